/** Addresses that no webhook may reach, one for each kind of inside. */
const INSIDE = [
  '127.0.0.1',
  '169.254.169.254',
  '10.0.0.1',
  '172.16.5.4',
  '192.168.1.1',
  '100.64.0.1',
  '0.0.0.0',
]

/** The ways to write an IPv4 address that some program understands. */
function spellings(address: string): readonly string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  const number = ((a * 256 + b) * 256 + c) * 256 + d
  const hex = (value: number) => value.toString(16)
  const octal = (value: number) => `0${value.toString(8)}`
  const groups = `${hex(a * 256 + b)}:${hex(c * 256 + d)}`
  const wide = (text: string) =>
    text.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
  return [
    address,
    `${address}.`,
    String(number),
    `0x${hex(number)}`,
    octal(number),
    [a, b, c, d].map((part) => `0x${hex(part)}`).join('.'),
    [a, b, c, d].map(octal).join('.'),
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    wide(address),
    address.replaceAll('.', '。'),
    address.replaceAll(/[0-9]/g, (digit) => `%3${digit}`),
    `[::ffff:${address}]`,
    `[::ffff:${groups}]`,
    `[0:0:0:0:0:FFFF:${groups}]`,
    `[::${address}]`,
    `[::ffff:0:${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b:1::${groups}]`,
    `[2002:${groups}::1]`,
  ]
}

const OTHERS = [
  '0.1.2.3',
  '100.100.100.200',
  '168.63.129.16',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.7',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '127.255.255.254',
  '[::]',
  '[::1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[100::1]',
  '[2001::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[5f00::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[4000::1]',
]

/** Hosts of URLs that lead inside, in every spelling. */
export const HOSTILE_HOSTS: readonly string[] = [...INSIDE.flatMap(spellings), ...OTHERS]

/** What a name server may answer that leads inside, also among harmless addresses. */
export const HOSTILE_ANSWERS: readonly (readonly string[])[] = [
  ...INSIDE.map((address) => [address]),
  ...INSIDE.map((address) => ['93.184.216.34', address]),
  ...INSIDE.map((address) => [`::ffff:${address}`]),
  ['::1'],
  ['fe80::1%eth0'],
  ['fd00:ec2::254'],
  ['64:ff9b::a9fe:a9fe'],
  ['2606:2800:220:1:248:1893:25c8:1946', '::1'],
]
