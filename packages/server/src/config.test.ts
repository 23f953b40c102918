import { describe, expect, it } from 'vitest'
import { loadConfig, redactConfig } from './config.ts'

describe('configuration', () => {
  it('has a default for everything', () => {
    expect(loadConfig({}, {})).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      roles: ['api', 'worker', 'housekeeper'],
    })
  })

  it('takes overrides before the environment, and an empty variable for an absent one', () => {
    const environment = { MILLRACE_PORT: '81', MILLRACE_HOST: '' }
    expect(loadConfig({ port: 82 }, environment)).toMatchObject({ port: 82, host: '127.0.0.1' })
    expect(loadConfig({}, environment)).toMatchObject({ port: 81 })
  })

  it.each([
    [{ MILLRACE_PORT: '99999' }, 'MILLRACE_PORT must be an integer from 0 to 65535, not "99999"'],
    [{ MILLRACE_ROLES: 'api,cook' }, 'MILLRACE_ROLES must be one of api, worker, housekeeper, not "cook"'],
    [{ MILLRACE_ROLES: ',' }, 'MILLRACE_ROLES must be one or more of api, worker, housekeeper, not ","'],
    [
      { MILLRACE_WEBHOOK_ALLOWED_CIDRS: '::1, 10.0.0.0/33' },
      'MILLRACE_WEBHOOK_ALLOWED_CIDRS must be addresses, each with a prefix length such as 10.0.0.0/8, not "10.0.0.0/33"',
    ],
    [{ MILLRACE_PROT: '1' }, 'MILLRACE_PROT is not a setting; docs/configuration.md lists them all'],
  ])('names the variable and what it allows: %j', (environment, message) => {
    expect(() => loadConfig({}, environment)).toThrow(message)
  })

  it('never shows a secret, neither in the log nor in an error', () => {
    const secret = 'postgres://user:swordfish@db/x'
    expect(JSON.stringify(redactConfig(loadConfig({}, { MILLRACE_DATABASE_URL: secret })))).not.toContain(
      'swordfish',
    )
    expect(() => loadConfig({}, { MILLRACE_CLICKHOUSE_URL: secret })).toThrow(/^(?!.*swordfish)/)
  })
})
