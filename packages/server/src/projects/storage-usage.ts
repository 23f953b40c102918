/** What the records of a project take up, in all its versions. */
export interface StoredSize {
  readonly rows: number
  /** On disk, compressed. */
  readonly bytes: number
}

/** The disk that records are stored on. */
export interface DiskSpace {
  /** What records take up, of all projects. */
  readonly storedBytes: number
  readonly freeBytes: number
  readonly totalBytes: number
}

/** Measures what is stored. */
export interface StorageUsage {
  disk(): Promise<DiskSpace>
  ofProject(projectId: number): Promise<StoredSize>
}
