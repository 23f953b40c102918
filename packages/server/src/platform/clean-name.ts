const PLAIN = /^[A-Za-z0-9_]*$/

/**
 * The name under which something is kept (IN-5): letters and digits of any script and `_` stay, every other character
 * becomes `_`. Composed and decomposed spellings of a letter are the same name.
 */
export function cleanName(name: string): string {
  return PLAIN.test(name) ? name : name.normalize('NFC').replace(/[^\p{L}\p{M}\p{N}_]/gu, '_')
}
