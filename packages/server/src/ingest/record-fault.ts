/** What is wrong with one record. Caught by the validator of the batch, which knows the record's index. */
export class RecordFault extends Error {
  override readonly name = 'RecordFault'
  /** The field at fault, as the sender writes it. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}
