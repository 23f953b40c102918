import { InvalidArgumentError } from 'commander'

/** A whole number from 0 on, of an option. */
export function parseCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}
