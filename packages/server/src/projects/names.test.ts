import { describe, expect, it } from 'vitest'
import { checkOwnerName, checkProjectName } from './names.ts'

describe('names of owners and projects', () => {
  it.each(['a', 'demo', 'erc20', 'My_Project-2.1', '0x', 'a'.repeat(100)])('admits %s', (name) => {
    expect(() => checkOwnerName(name)).not.toThrow()
    expect(() => checkProjectName(name)).not.toThrow()
  })

  it.each(['', '.', '..', '-a', '_a', 'a b', 'a/b', 'ä', 'a\n', 'a'.repeat(101)])('refuses %j', (name) => {
    expect(() => checkOwnerName(name)).toThrow('owner must be 1 to 100 letters')
    expect(() => checkProjectName(name)).toThrow('name must be 1 to 100 letters')
  })

  it('refuses owners and projects that would look like pages of the service', () => {
    expect(() => checkOwnerName('API')).toThrow('owner must not be one of the reserved words')
    expect(() => checkProjectName('new')).toThrow('name must not be one of the reserved words')
  })
})
