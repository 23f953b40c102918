/** What holds parentheses without meaning them: texts, names in quotes, comments, here-documents. */
const SKIPPED =
  /'(?:\\.|''|[^'\\])*'|"(?:\\.|""|[^"\\])*"|`(?:\\.|``|[^`\\])*`|--[^\n]*|\/\*.*?\*\/|\$(\w*)\$.*?\$\1\$|[()[\]{}]/gs
const CLOSING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }

/** The first parenthesis that closes nothing, else the last that is never closed: its place in characters from 0. Null where all match. */
export function unmatchedParenthesis(
  text: string,
): { readonly at: number; readonly character: string; readonly isClosing: boolean } | null {
  const open: { at: number; character: string }[] = []
  for (const { 0: character, index: at } of text.matchAll(SKIPPED)) {
    const opening = CLOSING[character]
    if (opening !== undefined) {
      if (open.at(-1)?.character !== opening) return { at, character, isClosing: true }
      open.pop()
    } else if ('([{'.includes(character)) open.push({ at, character })
  }
  const last = open.at(-1)
  return last ? { ...last, isClosing: false } : null
}
