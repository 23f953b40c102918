/**
 * Lanes of one host that a single claim takes at most: half of what the host may have under way (DL-9). The other half
 * is for hosts that are busy already, so a claim only needs to know about those that are more than half busy.
 */
export function hostShare(hostLimit: number): number {
  return Math.ceil(hostLimit / 2)
}

/** True when a host had its part of a claim, so that more of its lanes may be ready than were claimed. */
export function isHostExhausted(
  hostLimit: number,
  busyHosts: ReadonlyMap<string, number>,
  claimedHosts: ReadonlyMap<string, number>,
): boolean {
  const hosts = new Set([...busyHosts.keys(), ...claimedHosts.keys()])
  return [...hosts].some((host) => {
    const claimed = claimedHosts.get(host) ?? 0
    return claimed >= hostShare(hostLimit) || claimed + (busyHosts.get(host) ?? 0) >= hostLimit
  })
}
