/**
 * Event ids are given out in chunks: a block of a chain gets a chunk of ids of its lane for each chunk of its
 * positions, recorded for ever, so an id depends on nothing but (channel, chain, block, position) (EV-1). Chunks
 * rather than one range, because a position may be as high as 2^40 while hardly any below it is used (EV-2).
 */
export const CHUNK_IDS = 64

/** The chunk of positions that holds `position`, counted within its block. */
export function chunkOfPosition(position: number): number {
  return Math.floor(position / CHUNK_IDS)
}

/** The id of `position`, given the lane's chunk of ids that was recorded for its chunk of positions. */
export function eventId(idChunk: number, position: number): number {
  return idChunk * CHUNK_IDS + (position % CHUNK_IDS) + 1
}
