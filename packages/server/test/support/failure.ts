import { ServiceError } from '../../src/platform/errors.ts'

/** The `ServiceError` that a promise fails with; anything else fails the test. */
export async function failure(promise: Promise<unknown>): Promise<ServiceError> {
  let outcome: unknown
  try {
    outcome = await promise
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error(`expected a failure, got ${JSON.stringify(outcome)}`)
}
