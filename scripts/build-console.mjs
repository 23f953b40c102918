// Builds the web console when its sources are newer than what was built: after scripts/install.mjs, before `npm start`.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const directory = join(root, 'packages', 'console')
const stampFile = join(directory, 'dist', '.sources')

/** What the build is made of: every source, the settings, and the locked libraries. */
function sourcesHash() {
  const hash = createHash('sha256')
  const sources = readdirSync(join(directory, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .toSorted()
  for (const path of [
    ...sources,
    join(directory, 'index.html'),
    join(directory, 'vite.config.ts'),
    join(root, 'package-lock.json'),
  ]) {
    hash.update(path).update(readFileSync(path))
  }
  return hash.digest('hex')
}

const hash = sourcesHash()
if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== hash) {
  process.stderr.write('Building the web console (a few seconds) … ')
  const startedAt = Date.now()
  const built = spawnSync(process.execPath, [join(root, 'node_modules', 'vite', 'bin', 'vite.js'), 'build'], {
    cwd: directory,
    encoding: 'utf8',
  })
  if (built.status === 0) {
    writeFileSync(stampFile, hash)
    process.stderr.write(`done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s.\n`)
  } else {
    // The service is of use without it, and says at its address how to build it.
    process.stderr.write(`failed; the service starts without it.\n${built.stdout}${built.stderr}\n`)
  }
}
