import { describe, expect, it } from 'vitest'
import { expectAccessible } from './browser.ts'
import { setUpConsole } from './console-flow.ts'
import { CLIENT_CERTIFICATE, CLIENT_KEY, TEST_AUTHORITY } from '../delivery/test-certificates.ts'

const flow = setUpConsole()

describe('webhooks', { timeout: 120_000 }, () => {
  it('creates a channel, shows its secret once, tests, pauses, edits and deletes it', async () => {
    await flow.go('/webhooks')
    await flow.press('New channel')
    await flow.page.getByLabel('Name', { exact: true }).fill('alerts')
    await flow.page.getByLabel('Address of the receiver').fill('ftp://example.com')
    await flow.press('Create channel')
    await flow.see(/begins with https/)
    await flow.page.getByLabel('Address of the receiver').fill(flow.receiver.url)
    await expectAccessible(flow.page)
    await flow.press('Create channel')
    await flow.see(/whsec_/)
    await flow.press('I have copied it')
    await flow.page.getByRole('link', { name: 'alerts' }).click()
    await flow.press('Send a test')
    await flow.page.getByRole('button', { name: 'Send', exact: true }).click()
    await flow.see('acknowledged 200')
    const request = await flow.page.getByRole('region', { name: 'request' }).innerText()
    const call = flow.receiver.calls.at(-1)
    expect(request).toContain(`POST ${flow.receiver.url}`)
    expect(request).toContain(`webhook-signature: ${String(call?.headers['webhook-signature'])}`)
    expect(request).toContain(call?.text)
    await flow.press('Close')
    await flow.press('Pause')
    await flow.page.getByRole('button', { name: 'Resume' }).waitFor()
    await flow.press('Edit')
    await flow.page.getByLabel('First wait').fill('soon')
    await flow.press('Save changes')
    await flow.see(/A number and ms/)
    await flow.page.getByLabel('First wait').fill('5s')
    const atOnce = flow.page.getByLabel('Calls at once')
    expect(await atOnce.inputValue()).toBe('1')
    await atOnce.fill('17')
    await flow.press('Save changes')
    await flow.see(/requestsAtOnce must be from 1 to 16/)
    await atOnce.fill('8')
    await flow.press('Save changes')
    await flow.page.getByRole('tab', { name: 'Settings' }).click()
    await flow.see(/5s, doubled up to 1h/)
    await flow.see('up to 8, in no order among them')
    await flow.press('Edit')
    await flow.page.getByLabel('Calls a second').fill('20')
    await flow.press('Save changes')
    await flow.see('requestsAtOnce: a channel with requestsPerSecond has one request at a time')
    const rotate = flow.page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' })
    await flow.press('Rotate secret')
    await rotate.click()
    await flow.see(/whsec_/)
    await flow.press('I have copied it')
    await flow.page.getByText(/one request at a time/).waitFor({ state: 'detached' })
    await flow.press('Rotate secret')
    await flow.see(/was to sign until .* ends at once: at most two sign/)
    await rotate.click()
    await flow.see(/whsec_/)
    await flow.press('I have copied it')
    await flow.see(/the secret before the last one was to sign until .* and ended now/)
    await expectAccessible(flow.page)
    await flow.press('Delete')
    await flow.page.getByRole('button', { name: 'Delete channel' }).click()
    await flow.page.getByRole('link', { name: 'alerts' }).waitFor({ state: 'detached' })
  })

  it('gives an address to a channel that exports have named, shows its dead letters, redrives and dismisses (IN-7)', async () => {
    flow.receiver.answer = 500
    await flow.go('/webhooks/waiting')
    await flow.see(/their messages wait/)
    await flow.press('Edit')
    await flow.page.getByLabel('Address of the receiver').fill(flow.receiver.url)
    for (const [label, value] of [
      ['First wait', '100ms'],
      ['Longest wait', '100ms'],
      ['Give up after', '100ms'],
      ['and failed attempts', '1'],
    ] as const) {
      await flow.page.getByLabel(label).fill(value)
    }
    await flow.press('Save changes')
    await flow.page
      .getByRole('button', { name: 'I have copied it' })
      .or(flow.page.getByRole('tab', { name: 'Dead letters' }))
      .first()
      .waitFor()
    const copied = flow.page.getByRole('button', { name: 'I have copied it' })
    if (await copied.isVisible()) await copied.click()
    await flow.page.getByRole('tab', { name: 'Dead letters' }).click()
    await flow.press('Show')
    await flow.see(/"export_name":"large"/)
    await flow.press('Close')
    flow.receiver.answer = 200
    await flow.press('Redrive all')
    await flow.page.getByRole('button', { name: 'Redrive', exact: true }).click()
    await flow.see(/1 dead letter is sent again/)
    await flow.see(/No dead letter/)
    flow.receiver.answer = 500
    await flow.page.getByRole('tab', { name: 'Attempts' }).click()
    await flow.see('acknowledged 200')
  })

  it('takes certificates, says which is none, and never shows the key again (DL-10)', async () => {
    await flow.service.post('/webhook/channels/acme/dex', { name: 'private', url: flow.receiver.url })
    await flow.go('/webhooks/private')
    await flow.press('Edit')
    await flow.page.getByText('TLS: private authorities and client certificates').click()
    await flow.page.getByLabel('Certificate authority').fill('not a certificate')
    await flow.press('Save changes')
    await flow.see(/tls.certificateAuthority: must be one or more certificates in PEM/)
    await flow.page.getByLabel('Certificate authority').fill(TEST_AUTHORITY)
    await flow.page.getByLabel('Client certificate', { exact: true }).fill(CLIENT_CERTIFICATE)
    await flow.page.getByLabel('Key of the client certificate').fill(CLIENT_KEY)
    await flow.press('Save changes')
    await flow.page.getByRole('tab', { name: 'Settings' }).click()
    await flow.see(/one of its own, introduces itself with a client certificate/)
    await flow.press('Edit')
    expect(await flow.page.getByLabel('Key of the client certificate').inputValue()).toBe('')
    await flow.press('Save changes')
    await flow.page.getByRole('dialog').waitFor({ state: 'detached' })
    const { body } = await flow.service.get('/webhook/channels/acme/dex/private')
    expect(body.tls).toMatchObject({ clientCertificate: CLIENT_CERTIFICATE.trim(), hasClientKey: true })
  })

  it('resumes a disabled channel, and says when it is tried again and why (DL-12)', async () => {
    flow.receiver.answer = 410
    await flow.service.post('/webhook/channels/acme/dex', { name: 'gone', url: flow.receiver.url })
    const place = { chain: '1', blockNumber: 30_000, blockHash: '0x1', time: new Date().toISOString() }
    await flow.service.post('/ingest/acme/dex/batch', {
      records: [{ type: 'export', name: 'large', channel: 'gone', data: { n: 1 }, ...place }],
    })
    await flow.go('/webhooks/gone')
    await flow.see(/Disabled: the endpoint answered 410/)
    await flow.see('when it is resumed')
    flow.receiver.answer = 503
    await flow.press('Resume')
    await flow.see('the endpoint answered 503')
    flow.receiver.answer = 200
    await flow.press('Try now')
    await flow.see('the last one succeeded')
  })

  it('shows the attempts of a time, and one in full (DL-11)', async () => {
    await flow.service.post('/webhook/channels/acme/dex', { name: 'timed', url: flow.receiver.url })
    await flow.service.post('/webhook/channels/acme/dex/timed/test', {})
    await flow.go('/webhooks/timed')
    await flow.press('Any time')
    await flow.page
      .getByRole('region', { name: 'Attempts' })
      .getByRole('button', { name: /ago|now/ })
      .click()
    await flow.see('webhook-id')
    await flow.press('Close')
    await flow.press('Last 24 hours')
    await flow.page.getByLabel('From', { exact: true }).fill('2026-01-01')
    await flow.page.getByLabel('To', { exact: true }).fill('2026-01-02')
    await flow.press('Show this range')
    await flow.see('No attempt fits the filter.')
    await flow.press('Show attempts of any time')
    await flow.page.getByRole('region', { name: 'Attempts' }).waitFor()
  })

  it('dismisses dead letters for good, after asking (DD-4)', async () => {
    flow.receiver.answer = 422
    await flow.service.post('/webhook/channels/acme/dex', {
      name: 'dying',
      url: flow.receiver.url,
      backoff: { initialMs: 100, capMs: 100 },
      deadLetter: { ageMs: 100, attempts: 1 },
    })
    const place = { chain: '1', blockNumber: 20_000, blockHash: '0x1', time: new Date().toISOString() }
    await flow.service.post('/ingest/acme/dex/batch', {
      records: [{ type: 'export', name: 'large', channel: 'dying', data: { n: 1 }, ...place }],
    })
    await flow.go('/webhooks/dying')
    await flow.page.getByRole('tab', { name: 'Dead letters' }).click()
    await flow.press('Dismiss all')
    await flow.see(/removed for good/)
    await flow.page.getByRole('dialog').getByRole('button', { name: 'Dismiss' }).click()
    await flow.see(/1 dead letter is dismissed/)
    await flow.see(/No dead letter\./)
    flow.receiver.answer = 200
  })
})
