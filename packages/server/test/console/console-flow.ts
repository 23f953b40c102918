import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { launchBrowser, openPage, signIn } from './browser.ts'
import { seedProject } from './seed.ts'

/** The address of the seeded project in the console. */
export const PROJECT = '/p/acme/dex'

/** A real browser before a running service with real data, for the flows of one test file. */
export interface ConsoleFlow {
  readonly service: TestService
  readonly receiver: Receiver
  readonly browser: Browser
  /** The page of the present test. */
  readonly page: Page
  /** What the console or the policy of the page complained of; a test that expects some takes it out. */
  readonly faults: string[]
  /** Signs in as administrator at a page of the seeded project. */
  go(path?: string): Promise<void>
  /** Waits until a text is to be seen. */
  see(text: string | RegExp): Promise<void>
  /** Presses the first button of that name. */
  press(name: string | RegExp): Promise<void>
}

/** Starts what the flows of a test file need, and gives each test a page that fails it when the console breaks. */
export function setUpConsole(): ConsoleFlow {
  let service: TestService
  let receiver: Receiver
  let browser: Browser
  let page: Page
  let faults: string[]
  beforeAll(async () => {
    service = await startTestService()
    receiver = await startReceiver()
    await seedProject(service, 'acme/dex')
    browser = await launchBrowser()
  }, 120_000)
  afterAll(async () => {
    await browser.close()
    await receiver.close()
    await service.stop()
  })
  beforeEach(async () => {
    ;({ page, faults } = await openPage(browser, service.url))
  })
  afterEach(async () => {
    await page.context().close()
    expect(faults).toEqual([])
  })
  return {
    get service() {
      return service
    },
    get receiver() {
      return receiver
    },
    get browser() {
      return browser
    },
    get page() {
      return page
    },
    get faults() {
      return faults
    },
    go: (path = '') => signIn(page, service.administratorKey, PROJECT + path),
    see: (text) => page.getByText(text).first().waitFor(),
    press: (name) => page.getByRole('button', { name }).first().click(),
  }
}
