/** What a channel may be called, for messages. */
export const CHANNEL_NAME_RULE =
  'must have 1 to 512 characters, without slashes and control characters, and be neither . nor ..'

/** Whether a channel may be called so, by operators and by exports alike: its name is a segment of addresses. */
export function isChannelName(name: string): boolean {
  return /^[^\p{Cc}/]{1,512}$/u.test(name) && name.isWellFormed() && name !== '.' && name !== '..'
}
