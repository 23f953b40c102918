export interface CacheTables {}
