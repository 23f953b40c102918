import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/** The thread of `createSqliteCheckpointer`: copies the log whenever it is told to, without making any writer wait. */
const database = new DatabaseSync(String(workerData))
parentPort?.on('message', (order: 'checkpoint' | 'close') => {
  if (order === 'checkpoint') {
    database.exec('pragma wal_checkpoint(passive)')
    return
  }
  database.close()
  parentPort?.close()
})
