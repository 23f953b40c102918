import { describe, expect, it } from 'vitest'
import { checkUrl } from '../delivery/check-channel.ts'
import { createAddressGuard } from './address-guard.ts'
import { blockListOf } from './address-ranges.ts'

const guard = createAddressGuard({
  allowedCidrs: [],
  resolve: (hostname) =>
    Promise.resolve([{ address: hostname.startsWith('inner') ? '10.0.0.1' : '93.184.216.34', family: 4 }]),
})

const HOSTILE = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://127.0.1/',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://127.0.0.1./',
  'http://１２７.０.０.１/',
  'http://①②⑦.0.0.1/',
  'http://%31%32%37.0.0.1/',
  'http://0/',
  'http://0.0.0.0/',
  'http://0.1.2.3/',
  'http://10.255.0.1:8080/',
  'http://100.64.0.1/',
  'http://100.100.100.200/latest/meta-data/',
  'http://168.63.129.16/',
  'http://169.254.169.254/latest/meta-data/',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.0.0.192/',
  'http://192.0.2.1/',
  'http://192.88.99.1/',
  'http://192.168.1.1/',
  'http://198.18.0.1/',
  'http://198.51.100.7/',
  'http://203.0.113.7/',
  'http://224.0.0.1/',
  'http://239.255.255.250/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://[::]/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::127.0.0.1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[0:0:0:0:0:ffff:a9fe:a9fe]/',
  'http://[::ffff:0:127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[64:ff9b:1::1]/',
  'http://[100::1]/',
  'http://[2001::1]/',
  'http://[2001:db8::1]/',
  'http://[2002:7f00:1::]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[3fff::1]/',
  'http://[fc00::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
  'http://[4000::1]/',
  'http://inner.example/',
]

const MALFORMED = [
  '',
  'receiver.example',
  'ftp://receiver.example/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'http://',
  'http://[fe80::1%25eth0]/',
  'http://256.256.256.256/',
  'https://user:password@receiver.example/',
  'https://user@receiver.example/',
  `https://receiver.example/${'x'.repeat(2048)}`,
]

describe('the address guard', () => {
  it.each(HOSTILE)('refuses %s, naming the range and the setting that allows it (DL-10)', async (url) => {
    await expect(checkUrl(url, guard)).rejects.toThrow(/^url: .* is in .*MILLRACE_WEBHOOK_ALLOWED_CIDRS$/s)
  })

  it.each(MALFORMED)('refuses %s as an address of a channel (DL-10)', async (url) => {
    await expect(checkUrl(url, guard)).rejects.toThrow(/^url: must/)
  })

  it.each([
    'https://receiver.example/hook?a=b',
    'http://93.184.216.34:8080/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
    'https://[::ffff:93.184.216.34]/',
  ])('lets %s pass (DL-10)', async (url) => {
    await expect(checkUrl(url, guard)).resolves.toMatch(/^https?:/)
  })

  it('lets through what the operator allows, also when it is written as IPv6 (DL-10)', async () => {
    const lenient = createAddressGuard({ allowedCidrs: ['127.0.0.0/8', '::1'] })
    await expect(checkUrl('http://127.0.0.1:9000/', lenient)).resolves.toBe('http://127.0.0.1:9000/')
    await expect(checkUrl('http://[::ffff:127.0.0.1]/', lenient)).resolves.toBeTruthy()
    await expect(checkUrl('http://[::1]/', lenient)).resolves.toBeTruthy()
    await expect(checkUrl('http://10.0.0.1/', lenient)).rejects.toThrow('10.0.0.0/8 (private)')
  })

  it('accepts a name that cannot be looked up now, since every connection is checked again (DL-10)', async () => {
    const offline = createAddressGuard({
      allowedCidrs: [],
      resolve: () => Promise.reject(new Error('ENOTFOUND')),
    })
    await expect(checkUrl('https://later.example/', offline)).resolves.toBe('https://later.example/')
  })

  it.each(['10.0.0.0/33', 'ten', '::/129', '10.0.0.0/x'])('refuses the allowed CIDR %s (DL-10)', (cidr) => {
    expect(() => blockListOf([cidr])).toThrow(RangeError)
  })
})
