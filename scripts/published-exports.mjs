// Inside the repository a package exports its sources; what is published exports what was built. npm itself does not
// apply `publishConfig.exports`, so prepack puts them in place and postpack takes them back.
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
if (process.argv[2] === 'restore') manifest.exports = { '.': './src/index.ts' }
else manifest.exports = manifest.publishConfig.exports
writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`)
