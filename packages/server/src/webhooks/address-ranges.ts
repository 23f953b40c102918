import { BlockList, isIP } from 'node:net'

/** Address ranges that no webhook reaches (DL-10), from IANA's special-purpose registries, and what they are. */
const SPECIAL_RANGES: readonly (readonly [cidr: string, what: string])[] = [
  ['0.0.0.0/8', 'this network'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'carrier-grade NAT'],
  ['127.0.0.0/8', 'loopback'],
  ['168.63.129.16/32', 'cloud metadata'],
  ['169.254.0.0/16', 'link-local and cloud metadata'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'protocol assignments'],
  ['192.0.2.0/24', 'documentation'],
  ['192.31.196.0/24', 'AS112'],
  ['192.52.193.0/24', 'AMT'],
  ['192.88.99.0/24', '6to4 relay'],
  ['192.168.0.0/16', 'private'],
  ['192.175.48.0/24', 'AS112'],
  ['198.18.0.0/15', 'benchmarking'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.113.0/24', 'documentation'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved and broadcast'],
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['64:ff9b::/96', 'NAT64'],
  ['64:ff9b:1::/48', 'NAT64'],
  ['100::/64', 'discard-only'],
  ['2001::/23', 'protocol assignments and Teredo'],
  ['2001:db8::/32', 'documentation'],
  ['2002::/16', '6to4'],
  ['2620:4f:8000::/48', 'AS112'],
  ['3fff::/20', 'documentation'],
  ['5f00::/16', 'segment routing'],
  ['fc00::/7', 'unique local'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'site-local'],
  ['ff00::/8', 'multicast'],
]

/** The only IPv6 block that is routed on the internet; the rest is refused although it has no name. */
const GLOBAL_UNICAST = blockListOf(['2000::/3'])

const SPECIAL = SPECIAL_RANGES.map(([cidr, what]) => ({ cidr, what, addresses: blockListOf([cidr]) }))

/** Says why an address must not be reached, e.g. `127.0.0.0/8 (loopback)`; null when it may be. */
export function specialRangeOf(address: string): string | null {
  const plain = plainAddress(address)
  const version = isIP(plain)
  if (version === 0) return 'no IP address'
  const family = version === 4 ? 'ipv4' : 'ipv6'
  for (const { cidr, what, addresses } of SPECIAL) {
    if (addresses.check(plain, family)) return `${cidr} (${what})`
  }
  return version === 6 && !GLOBAL_UNICAST.check(plain, 'ipv6') ? 'outside of 2000::/3 (not routed)' : null
}

/** A list of CIDRs such as `127.0.0.0/8` or `::1/128`, or of single addresses. Throws a `RangeError` naming the bad one. */
export function blockListOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [address = '', length] = cidr.split('/')
    const version = isIP(address)
    const bits = length === undefined ? (version === 4 ? 32 : 128) : Number(length)
    if (version === 0 || !Number.isInteger(bits) || bits < 0 || bits > (version === 4 ? 32 : 128)) {
      throw new RangeError(`"${cidr}" is no CIDR; expected an address and a prefix length such as 10.0.0.0/8`)
    }
    list.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

/** The address without brackets and zone; an IPv4 address mapped into IPv6 as IPv4, because that is where it leads. */
export function plainAddress(address: string): string {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
  if (isIP(bare) !== 6) return bare
  // WHATWG URL writes every spelling of an IPv6 address in one way.
  const canonical = new URL(`http://[${bare}]/`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical)
  if (!mapped) return canonical
  const [high, low] = [mapped[1], mapped[2]].map((group) => Number.parseInt(group ?? '', 16))
  return [high, low].flatMap((group = 0) => [group >> 8, group & 0xff]).join('.')
}
