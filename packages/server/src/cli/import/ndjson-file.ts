import { openText } from './open-lines.ts'
import type { SourceFile } from './source-row.ts'

/** A file with one JSON object a line. Lines are handed on as they are written, so that no digit is lost; empty ones are no rows. */
export function ndjsonFile(path: string): SourceFile {
  const { chunks, progress } = openText(path)
  return {
    progress,
    async *rows(fromRow) {
      let row = 0
      let number = 0
      let rest = ''
      for await (const chunk of chunks) {
        const lines = (rest + chunk).split('\n')
        rest = lines.pop() ?? ''
        for (const content of lines) {
          number++
          if (content.trim() !== '' && row++ >= fromRow) yield { place: `line ${number}`, content }
        }
      }
      if (rest.trim() !== '' && row >= fromRow) yield { place: `line ${number + 1}`, content: rest }
    },
  }
}
