import type { Received } from '../bench.ts'

/** Where an export stands; its event id depends on nothing else (EV-1). */
export interface Place {
  readonly channel: string
  readonly block: number
  readonly position: number
}

/** The data of every export of the run: where it stands, and how often that place had changed by then. */
export interface Payload {
  readonly place: string
  readonly order: number
}

/** What the receiver must end with, and what it has. */
export interface Oracle {
  /** The payload of the next revision of a place. */
  revise(place: Place): Payload
  /** The newest payload of a place; null if it has none or was rolled back. */
  current(place: Place): Payload | null
  /** All places of a channel that have a payload, above a block. */
  places(channel: string, aboveBlock: number): readonly Place[]
  /** A rollback removed the place, and it was not emitted again. */
  remove(place: Place): void
  receive(channel: string, messages: readonly Received[]): void
  /** What went against the rulings so far. */
  readonly faults: readonly string[]
  /** Places whose newest revision the receiver does not have. */
  missing(): readonly Payload[]
  /** Places of retracting channels that are gone and of which the receiver was not told. */
  unretracted(channel: string): readonly string[]
  readonly received: number
  readonly repeated: number
}

interface Held {
  readonly order: number
  readonly isRetracted: boolean
}

export function createOracle(): Oracle {
  const wanted = new Map<string, { place: Place; order: number; isGone: boolean }>()
  const held = new Map<string, Held>()
  const places = new Map<string, string>()
  const ids = new Map<string, number>()
  const faults: string[] = []
  let received = 0
  let repeated = 0

  function receiveOne(channel: string, message: Received & { readonly retracted?: boolean }): void {
    received += 1
    const id = `${channel}#${message.event_id}`
    if (message.retracted === true) {
      const place = places.get(id)
      const known = place === undefined ? undefined : held.get(place)
      // A request that broke before it was read may be retracted all the same.
      if (place !== undefined && known !== undefined) held.set(place, { ...known, isRetracted: true })
      return
    }
    const { place, order } = message.data as Payload
    if ((places.get(id) ?? place) !== place) faults.push(`${id} is ${place} and ${places.get(id)} (EV-2)`)
    if ((ids.get(place) ?? message.event_id) !== message.event_id)
      faults.push(`${place} changed its id (EV-1)`)
    places.set(id, place)
    ids.set(place, message.event_id)
    const known = held.get(place)
    if (known !== undefined && known.order > order) {
      faults.push(`${place}: revision ${order} came after ${known.order} (DL-8)`)
      return
    }
    if (known?.order === order) repeated += 1
    held.set(place, { order, isRetracted: false })
  }

  return {
    faults,
    revise(place) {
      const key = keyOf(place)
      const order = (wanted.get(key)?.order ?? 0) + 1
      wanted.set(key, { place, order, isGone: false })
      return { place: key, order }
    },
    current(place) {
      const known = wanted.get(keyOf(place))
      return known === undefined || known.isGone ? null : { place: keyOf(place), order: known.order }
    },
    places: (channel, aboveBlock) =>
      [...wanted.values()]
        .filter(({ place, isGone }) => !isGone && place.channel === channel && place.block > aboveBlock)
        .map(({ place }) => place),
    remove(place) {
      const known = wanted.get(keyOf(place))
      if (known) known.isGone = true
    },
    receive(channel, messages) {
      for (const message of messages) receiveOne(channel, message)
    },
    missing: () =>
      [...wanted]
        .filter(([key, { order, isGone }]) => {
          const last = held.get(key)
          return !isGone && (last?.order !== order || last.isRetracted)
        })
        .map(([place, { order }]) => ({ place, order })),
    unretracted: (channel) =>
      [...wanted]
        .filter(([key, { place, isGone }]) => {
          const last = held.get(key)
          return place.channel === channel && isGone && last !== undefined && !last.isRetracted
        })
        .map(([key]) => key),
    get received() {
      return received
    },
    get repeated() {
      return repeated
    },
  }
}

function keyOf({ channel, block, position }: Place): string {
  return `${channel}/${block}/${position}`
}
