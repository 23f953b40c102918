#!/usr/bin/env node
const major = Number(process.versions.node.split('.')[0])
if (major < 24) {
  process.stderr.write(`millrace needs Node 24 or newer; this is ${process.version}\n`)
  process.exitCode = 1
} else {
  await import('../src/main.ts')
}
