const TABS = ['events', 'entities', 'samples', 'versions', 'project'] as const

/** A part of the data page. */
export type DataTab = (typeof TABS)[number]

/** What the address of the data page says: the part, and the table in it. */
export interface DataState {
  readonly tab?: DataTab | undefined
  readonly table?: string | undefined
}

/** Reads the state from an address; what is not understood is undefined. */
export function readDataState({ tab, table }: Readonly<Record<string, unknown>>): DataState {
  return {
    tab: TABS.find((each) => each === tab),
    table: typeof table === 'string' ? table : undefined,
  }
}
