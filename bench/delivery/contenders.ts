import type { Contender } from './contender.ts'
import { bullmq } from './contenders/bullmq.ts'
import { graphileWorker } from './contenders/graphile-worker.ts'
import { millrace } from './contenders/millrace.ts'
import { pgBoss } from './contenders/pg-boss.ts'

/** Everybody who can take part. */
export const CONTENDERS: readonly Contender[] = [
  millrace('none'),
  millrace('postgres'),
  bullmq('plain'),
  bullmq('expert'),
  graphileWorker('plain'),
  graphileWorker('expert'),
  pgBoss('plain'),
  pgBoss('expert'),
]

/** The one of that name; throws an error that lists the names. */
export function contenderNamed(name: string): Contender {
  const found = CONTENDERS.find((contender) => contender.name === name)
  if (found) return found
  throw new Error(
    `no contender "${name}"; there are ${CONTENDERS.map((contender) => contender.name).join(', ')}`,
  )
}
