import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'

const BLOCK = /```sql[^\n]*\n([\s\S]*?)```/g
/** How the answer is drawn, which is not the statement's business. */
const DRAWN = /\s+format\s+\w+\s*$/i

/**
 * The SELECT statements of the engine's own manual: what its authors show of each function, as `system.functions` has it. Without those that choose
 * settings, which no statement may.
 */
export async function engineExamples(engine: FactEngine): Promise<readonly string[]> {
  const functions = await engine.rows<{ examples: string }>(
    `select examples from system.functions where origin = 'System' and examples != '' order by name`,
  )
  const statements = functions
    .flatMap(({ examples }) => [...examples.matchAll(BLOCK)].map(([, text = '']) => text))
    .map((text) => text.trim().replace(/;$/, '').replace(DRAWN, ''))
    .filter((text) => /^(select|with)\b/i.test(text) && !text.includes(';') && !/\bsettings\b/i.test(text))
  return [...new Set(statements)]
}
