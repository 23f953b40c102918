export * from './errors.ts'
export * from './ingest.ts'
export * from './cache.ts'
export * from './management.ts'
