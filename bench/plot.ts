/** A plot as a picture, legible on light and dark ground. `label` says in words what it shows; a line between places has the class `grid`, its heading `title`. */
export function drawPlot(
  { width, height, label }: { readonly width: number; readonly height: number; readonly label: string },
  parts: readonly string[],
): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">
<style>
  svg { background: #ffffff }
  text { font: 13px system-ui, sans-serif; fill: #334155 }
  .title { font-size: 15px; font-weight: 600 }
  .grid { stroke: #e2e8f0 }
  @media (prefers-color-scheme: dark) {
    svg { background: #0f172a }
    text { fill: #cbd5e1 }
    .grid { stroke: #334155 }
  }
</style>
${parts.join('\n')}
</svg>
`
}

/** A place on an axis of powers of ten. */
export function scale(from: number, to: number, start: number, end: number): (value: number) => number {
  const [low, high] = [Math.log10(from), Math.log10(to)]
  return (value) => round(start + ((Math.log10(value) - low) / (high - low)) * (end - start))
}

/** A tenth of a pixel is as exact as it can be seen. */
function round(value: number): number {
  return Math.round(value * 10) / 10
}
