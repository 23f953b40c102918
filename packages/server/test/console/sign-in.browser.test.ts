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
    await revoke(body.key.id)
    await flow.page.getByRole('link', { name: 'Data' }).click()
    await flow.page.getByLabel('API key').waitFor()
  })
  it('says that the session has ended when it does so under an open page, and leads back to it', async () => {
    const { body } = await flow.service.post('/keys', { name: 'leaving', permissions: ['read'] })
    await signIn(flow.page, body.secret, `${PROJECT}/sql?sql=select%2042`)
    await flow.press('Run')
    await flow.page.getByRole('gridcell', { name: '42' }).waitFor()
    await revoke(body.key.id)
    await flow.press('Run')
    await flow.see('The session has ended.')
    expect(await flow.page.getByText('42').count()).toBe(0)
    await expectAccessible(flow.page)
    await flow.page.getByLabel('API key').fill(flow.service.administratorKey)
    await flow.press('Sign in')
    await flow.page.getByRole('heading', { name: 'SQL' }).waitFor()
    expect(new URL(flow.page.url()).searchParams.get('sql')).toBe('select 42')
  })
})

async function revoke(id: string): Promise<void> {
  await fetch(`${flow.service.url}/api/v1/keys/${id}`, {
    method: 'DELETE',
    headers: { 'api-key': flow.service.administratorKey },
  })
}
