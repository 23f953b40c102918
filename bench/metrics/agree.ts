import type { Points, System } from './ask-systems.ts'
import type { BenchQuery } from './queries.ts'

/** Distance that two ways of adding may have, relative to the value. */
const TOLERANCE = 1e-9
/** The same relative to operands that nearly cancel. */
const ROUNDING = 1e-14

/**
 * Compares our answer with a peer's, point by point, and tells how many points agree. Throws an Error that shows the first that does not. Of a
 * ranking ours has whole series and theirs only the ranked points, so what they have is looked up in ours.
 */
export async function checkAgreement(ours: System, peer: System, query: BenchQuery): Promise<number> {
  const [own, other] = [ours.pointsOf(await ours.ask(query)), peer.pointsOf(await peer.ask(query))]
  const isRanking = query.name.includes('topk')
  let agreed = 0
  for (const [series, points] of other) {
    for (const [second, value] of points) {
      const found = own.get(series)?.get(second)
      const distance = Math.max(TOLERANCE * Math.max(1, Math.abs(value)), ROUNDING * (query.operands ?? 0))
      const isNear = found !== undefined && Math.abs(found - value) <= distance
      if (!isNear) {
        throw new Error(
          `${query.name}: at ${second} of ${series} ${peer.name} has ${value}, ours is ${found}`,
        )
      }
      agreed += 1
    }
  }
  const missing = isRanking ? 0 : countPoints(own) - agreed
  if (missing > 0) throw new Error(`${query.name}: ${peer.name} lacks ${missing} of our points`)
  return agreed
}

function countPoints(points: Points): number {
  let count = 0
  for (const series of points.values()) count += series.size
  return count
}
