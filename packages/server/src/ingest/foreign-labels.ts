import { cleanName } from '../platform/clean-name.ts'

/** Labels as another system sends them, made fit for a record of ours: what we keep as the place is taken out of them (MQ-4). */
export interface ForeignLabels {
  readonly labels: Readonly<Record<string, string>>
  readonly place: { readonly chain?: string; readonly contract?: string; readonly address?: string }
}

const PLACE_OF_LABEL = { chain: 'chain', contract_name: 'contract', contract_address: 'address' } as const

/** Of two labels that are kept under the same name the later one stands. */
export function foreignLabels(entries: Iterable<readonly [string, string]>): ForeignLabels {
  const labels: Record<string, string> = Object.create(null) as Record<string, string>
  const place: Record<string, string> = {}
  for (const [name, value] of entries) {
    const clean = cleanName(name)
    if (Object.hasOwn(PLACE_OF_LABEL, clean)) {
      place[PLACE_OF_LABEL[clean as keyof typeof PLACE_OF_LABEL]] = value
    } else labels[clean] = value
  }
  return { labels, place }
}
