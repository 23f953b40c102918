export interface IngestTables {}
