import { describe, expect, it } from 'vitest'
import { expectAccessible, signIn } from './browser.ts'
import { PROJECT, setUpConsole } from './console-flow.ts'

const flow = setUpConsole()

describe('signing in', { timeout: 120_000 }, () => {
  it('says why a key is refused, then leads to the page that was asked for', async () => {
    await flow.page.goto(`${PROJECT}/sql`)
    await flow.page.getByLabel('API key').fill('wrong-key-wrong-key-wrong-key')
    await flow.press('Sign in')
    await flow.see(/unknown, revoked or expired/)
    await expectAccessible(flow.page)
    await flow.page.getByLabel('API key').fill(flow.service.administratorKey)
    await flow.press('Sign in')
    await flow.page.getByRole('heading', { name: 'SQL' }).waitFor()
    await flow.press('Sign out')
    await flow.page.getByLabel('API key').waitFor()
  })

  it('leads to no other site afterwards', async () => {
    await signIn(flow.page, flow.service.administratorKey, '/sign-in?next=//example.com')
    expect(new URL(flow.page.url()).origin).toBe(flow.service.url)
  })

  it('offers a key only what it may do, and ends when the key is revoked', async () => {
    const { body } = await flow.service.post('/keys', { name: 'reader', permissions: ['read'] })
    await signIn(flow.page, body.secret, PROJECT)
    await flow.page.getByRole('link', { name: 'SQL' }).waitFor()
    expect(await flow.page.getByRole('link', { name: 'Keys' }).count()).toBe(0)
    await flow.page.goto(`${PROJECT}/webhooks`)
    await flow.see(/managed with a key that has the permission admin/)
    await fetch(`${flow.service.url}/api/v1/keys/${body.key.id}`, {
      method: 'DELETE',
      headers: { 'api-key': flow.service.administratorKey },
    })
    await flow.page.getByRole('link', { name: 'Data' }).click()
    await flow.page.getByLabel('API key').waitFor()
  })
})
