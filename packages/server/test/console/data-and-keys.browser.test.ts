import { describe, expect, it } from 'vitest'
import { expectAccessible, signIn } from './browser.ts'
import { setUpConsole } from './console-flow.ts'

const flow = setUpConsole()

describe('data and keys', { timeout: 120_000 }, () => {
  it('finds records by search and filter', async () => {
    await flow.go('/data')
    await flow.see(/500 records, more as you scroll/)
    await flow.page.getByLabel('Search in all columns').fill('needle')
    await flow.see(/^1 record$/)
    await flow.page.getByText('needle', { exact: true }).waitFor()
    await flow.page.getByRole('tab', { name: 'Entities' }).click()
    await flow.page.getByText('alice', { exact: true }).waitFor()
    await flow.page.getByRole('tab', { name: 'Versions' }).click()
    await flow.page.getByText('active', { exact: true }).waitFor()
    await expectAccessible(flow.page)
  })

  it('shows new records as they come, and a record in full', async () => {
    await flow.go('/data')
    await flow.see(/500 records/)
    await flow.page.getByText('Live tail').click()
    await flow.service.post('/ingest/acme/dex/batch', {
      records: [
        {
          type: 'event',
          name: 'Transfer',
          time: new Date().toISOString(),
          attributes: { to: 'just-come', amount: 1 },
        },
      ],
    })
    await flow.page.getByText('just-come', { exact: true }).click()
    await flow.page.getByRole('dialog', { name: 'Transfer' }).getByText('distinct_id').waitFor()
    await expectAccessible(flow.page)
  })

  it('filters by a column, and says when nothing fits', async () => {
    await flow.go('/data')
    await flow.see(/500 records/)
    await flow.press('Filter')
    await flow.page.getByRole('button', { name: /Column of filter 1/ }).click()
    await flow.page.getByRole('option', { name: /^to/ }).click()
    await flow.page.getByLabel('Value of filter 1').fill('0x3')
    await flow.see(/^120 records/)
    await flow.page.getByLabel('Value of filter 1').fill("'; drop table x --")
    await flow.see(/No record fits/)
  })

  it('activates a version, deletes another, and says what cannot be undone (IN-4)', async () => {
    for (const _ of [2, 3]) await flow.service.post('/projects/acme/dex/versions', {})
    await flow.go('/data?tab=versions')
    const row = (version: number) =>
      flow.page.getByRole('row').filter({ has: flow.page.getByText(String(version), { exact: true }) })
    await row(2).getByRole('button', { name: 'Activate' }).click()
    await flow.see(/Queries that name no version read it from now on/)
    await flow.page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click()
    await row(2).getByText('active', { exact: true }).waitFor()
    await row(3).getByRole('button', { name: 'Delete' }).click()
    await flow.see(/cannot be undone/)
    await flow.press('Delete version')
    await row(3).waitFor({ state: 'detached' })
    await row(1).getByRole('button', { name: 'Activate' }).click()
    await flow.page.getByRole('dialog').getByRole('button', { name: 'Activate' }).click()
    await row(1).getByText('active', { exact: true }).waitFor()
  })

  it('deletes a project only when its name is typed', async () => {
    await flow.service.post('/projects', { owner: 'acme', name: 'doomed' })
    await signIn(flow.page, flow.service.administratorKey, '/p/acme/doomed/data?tab=project')
    await flow.press('Delete the project')
    const dialog = flow.page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Delete project' }).click()
    await flow.see('Type acme/doomed to delete it.')
    await dialog.getByLabel('Type acme/doomed to go on').fill('acme/doomed')
    await dialog.getByRole('button', { name: 'Delete project' }).click()
    await flow.page.getByRole('heading', { name: 'Projects' }).waitFor()
    expect((await flow.service.get('/projects/acme/doomed')).status).toBe(404)
  })

  it('makes a key, shows it once, and revokes it', async () => {
    await signIn(flow.page, flow.service.administratorKey, '/keys')
    await flow.press('New key')
    await flow.press('Create key')
    await flow.see('A name is needed')
    await flow.page.getByLabel('Name').fill('indexer')
    await flow.press('Create key')
    await flow.see(/^mr_/)
    await flow.press('I have copied it')
    const row = flow.page.getByRole('row', { name: /indexer/ })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await flow.page.getByRole('button', { name: 'Revoke key' }).click()
    await row.waitFor({ state: 'detached' })
    await expectAccessible(flow.page)
  })
})
