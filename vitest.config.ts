import { configDefaults, defineConfig } from 'vitest/config'
import { CHROMIUM } from './packages/server/test/console/find-chromium.ts'

export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'packages/*/test/**/*.test.ts',
      'scripts/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    exclude: [...configDefaults.exclude, ...(CHROMIUM === null ? ['**/*.browser.test.ts'] : [])],
    // A chDB directory belongs to one process, and its library cannot be loaded twice into one: a process a file.
    pool: 'forks',
    globalSetup: ['packages/server/test/support/postgres-global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
