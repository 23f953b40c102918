import type { ControlDatabase } from './database.ts'

/** The secret of a name, the same for all instances: whoever comes first writes `fresh`, everybody reads that. */
export async function sharedSecret(
  db: ControlDatabase,
  name: string,
  fresh: Uint8Array,
): Promise<Uint8Array> {
  await db
    .insertInto('secret')
    .values({ name, value: fresh })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const { value } = await db
    .selectFrom('secret')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return value
}
