const NEWLINE = 0x0a

/** The lines of a block of whole lines, without their ends. */
export function linesOf(block: Buffer): Buffer[] {
  const lines: Buffer[] = []
  let start = 0
  for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, start)) {
    lines.push(block.subarray(start, end))
    start = end + 1
  }
  if (start < block.length) lines.push(block.subarray(start))
  return lines
}
