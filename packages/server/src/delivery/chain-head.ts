/** The highest block of a chain that a processor version has sent anything of. */
export interface ChainHead {
  readonly chain: string
  readonly blockNumber: number
}
