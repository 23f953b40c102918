/** The files of an upload by their `sequence`: what runs, and what it was made of. */
export const UPLOAD_PARTS = ['bundle', 'source'] as const
export type UploadPart = (typeof UPLOAD_PARTS)[number]

/** What came with an upload, as told by the sender. */
export interface UploadDetails {
  readonly sdkVersion: string
  readonly cliVersion: string
  readonly sha256: string
  readonly commitSha: string
  readonly gitUrl: string
}

/** Where the files of processors are kept. A file belongs to no version until its upload is finished. */
export interface UploadStore {
  /** Expects a file that will be presented with a token of this hash, and forgets older ones of that part and those from before `forgetBefore`. */
  expect(
    file: { readonly projectId: number; readonly part: UploadPart; readonly tokenHash: Uint8Array },
    nowMs: number,
    forgetBefore: number,
  ): Promise<void>
  /** False when no file is expected under this token. A file that comes again replaces the one before. */
  receive(tokenHash: Uint8Array, body: Uint8Array): Promise<boolean>
  /** Whether the bundle of an unfinished upload is there. */
  hasBundle(projectId: number): Promise<boolean>
  /** Gives the files of the unfinished upload to a version. */
  finish(projectId: number, version: number, details: UploadDetails): Promise<void>
  /** Null when there is none. */
  read(projectId: number, version: number, part: UploadPart): Promise<Uint8Array | null>
  /** Removes the files of a version. */
  remove(projectId: number, version: number): Promise<void>
  /** Of each version that was uploaded. */
  details(projectId: number): Promise<ReadonlyMap<number, UploadDetails>>
}
