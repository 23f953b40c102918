import { lookup as lookupAddresses } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import type { DestinationGuard } from '../delivery/check-channel.ts'
import { blockListOf, plainAddress, specialRangeOf } from './address-ranges.ts'

/** An address as a name server gives it. */
interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

export interface AddressGuardOptions {
  /** CIDRs that may be reached all the same. */
  readonly allowedCidrs: readonly string[]
  /** Looks a host name up; the system's resolver when absent. */
  readonly resolve?: (hostname: string) => Promise<readonly ResolvedAddress[]>
}

/** Decides which addresses webhooks may reach, when a channel is saved and at every connection (DL-10). */
export interface AddressGuard extends DestinationGuard {
  /** Why the host of a URL is refused if it is an IP address; null for names, which {@link lookup} checks. */
  refuseLiteral(url: URL): string | null
  /** For `net.connect`: hands out only addresses that may be reached, so what was checked is what is connected to. */
  readonly lookup: LookupFunction
}

/** Creates the guard. Throws a `RangeError` when an allowed CIDR is malformed. */
export function createAddressGuard({
  allowedCidrs,
  resolve = resolveBySystem,
}: AddressGuardOptions): AddressGuard {
  const allowed = blockListOf(allowedCidrs)

  function refuse(address: string): string | null {
    const plain = plainAddress(address)
    if (isIP(plain) !== 0 && allowed.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6')) return null
    const range = specialRangeOf(address)
    return range === null ? null : `${plain} is in ${range}`
  }

  /** One refused address refuses the name: which of them is connected to would be chance. */
  async function resolveChecked(hostname: string): Promise<readonly ResolvedAddress[]> {
    const addresses = await resolve(hostname)
    for (const { address } of addresses) {
      const reason = refuse(address)
      if (reason !== null) throw new RefusedAddressError(`${hostname} leads out of bounds: ${reason}`)
    }
    if (addresses.length === 0) throw new Error(`${hostname} has no address`)
    return addresses
  }

  function refuseLiteral({ hostname }: URL): string | null {
    const bare = hostname.replace(/^\[|\]$/g, '')
    return isIP(bare) === 0 ? null : refuse(bare)
  }

  const lookupChecked = callbackify(resolveChecked)

  return {
    refuseLiteral,

    async refuse(url) {
      const literal = refuseLiteral(url)
      if (literal !== null || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return literal
      try {
        await resolveChecked(url.hostname)
        return null
      } catch (error) {
        // A name that cannot be resolved now may be later; every connection is checked again.
        return error instanceof RefusedAddressError ? error.message : null
      }
    },

    lookup: (hostname, options, callback) => {
      lookupChecked(hostname, (error, addresses) => {
        if (error !== null) callback(error, [])
        else if (options.all === true) callback(null, [...addresses])
        else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
      })
    },
  }
}

/** A name that leads where webhooks must not go. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError'
  readonly code = 'REFUSED_ADDRESS'
}

function resolveBySystem(hostname: string): Promise<readonly ResolvedAddress[]> {
  return lookupAddresses(hostname, { all: true })
}
