import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { describe, expect, it, vi } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import { ROOT } from './sources.ts'

const pages = globSync(['*.md', 'docs/**/*.md', 'packages/*/*.md', 'examples/**/*.md'], { cwd: ROOT })
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

describe('the documents', () => {
  it('link to files that are there', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)]
        .map(([, target = '']) => join(dirname(page), target))
        .filter((target) => !existsSync(join(ROOT, target)))
        .map((target) => `${page} links to ${target}`),
    )
    expect(broken).toEqual([])
  })

  it('are short enough to be read', () => {
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(150)
    expect(read('ARCHITECTURE.md').split('\n').length).toBeLessThanOrEqual(250)
  })

  it('name only commands and options that the command line has', async () => {
    const commands = pages.flatMap((page) =>
      [...read(page).matchAll(/^npm run millrace -- (\w.*)$/gm)].map(([, line = '']) => line.split(' ')),
    )
    expect(commands.length).toBeGreaterThan(0)
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    // Nothing listens on port 1: a right usage fails with 1, a wrong one with 2.
    const codes = commands.map((words) => runCli([...words, '--url', 'http://127.0.0.1:1', '--key', 'none']))
    expect(await Promise.all(codes)).toEqual(commands.map(() => 1))
    expect(await runCli(['project', 'create', 'acme/dex', '--unknown'])).toBe(2)
    stderr.mockRestore()
  })
})
