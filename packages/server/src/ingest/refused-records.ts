import { ServiceError } from '../platform/errors.ts'

/** What is wrong with one record of a batch. */
export interface Fault {
  /** In the batch, from 0. */
  readonly index: number
  /** The field at fault, as the sender writes it. */
  readonly field: string
  /** Continues the field's name to a sentence. */
  readonly message: string
  /** Further facts for the sender, e.g. the type that was expected. */
  readonly facts?: Readonly<Record<string, unknown>>
}

/** An answer tells this many faults (IN-2). */
const MAX_TOLD = 10
/** So many are found before the rest of a batch is left unchecked. */
export const MAX_FAULTS = 1000

/** The refusal of a batch for some of its records: `records[17]: attributes.amount is string, but …` (IN-2). */
export class RefusedRecords extends ServiceError {
  /** In order of their records; more than are told. */
  readonly faults: readonly Fault[]

  /** @param lineOf the line of a record, from 1, where records are lines */
  constructor(faults: readonly Fault[], lineOf?: (index: number) => number) {
    const inOrder = faults.toSorted((a, b) => a.index - b.index)
    const told = inOrder.slice(0, MAX_TOLD)
    const sentences = told.map(({ index, field, message }) => {
      const place = lineOf ? `line ${lineOf(index)}` : `records[${index}]`
      return `${place}: ${field} ${message}`
    })
    const details = told.map(({ facts, ...fault }) => ({
      ...fault,
      ...facts,
      ...(lineOf ? { line: lineOf(fault.index) } : {}),
    }))
    super('invalid_argument', sentences.join('; '), { details })
    this.faults = inOrder
  }
}

/** Throws the refusal when there is something to refuse. */
export function refuseIfAny(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new RefusedRecords(faults)
}
