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
    // The flows of the console do not pass every time yet: they run by themselves, `npm run test:browser`.
    exclude: [
      ...configDefaults.exclude,
      ...(CHROMIUM === null || process.env['MILLRACE_TEST_BROWSER'] !== '1' ? ['**/*.browser.test.ts'] : []),
    ],
    // A chDB directory belongs to one process, and its library cannot be loaded twice into one: a process a file.
    pool: 'forks',
    globalSetup: ['packages/server/test/support/postgres-global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
