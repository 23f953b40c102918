/** The channel whose receiver listens, and the one whose receiver refuses so that dead letters can be seen. */
export const CHANNELS = { accepted: 'demo', refused: 'demo-refused' } as const
