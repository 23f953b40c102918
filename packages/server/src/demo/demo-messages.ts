/** Where the demo's blocks come from. */
export type DemoInput =
  | { readonly kind: 'simulation'; readonly seed: string }
  | { readonly kind: 'logs'; readonly path: string; readonly shiftSeconds: number; readonly lines: number }
  | {
      readonly kind: 'rpc'
      readonly url: string
      readonly contract: string | null
      readonly startBlock: number | null
    }

/** What the demo's process is told. It comes over the channel between the processes, as argv and environment are readable by others. */
export type DemoCommand =
  | {
      readonly kind: 'start'
      readonly baseUrl: string
      readonly apiKey: string
      readonly project: string
      readonly input: DemoInput
      readonly receiverPort: number
    }
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'go' }
  | { readonly kind: 'stop' }

/** What the demo's process tells. */
export type DemoReport =
  /** The receiver listens; the channels can be given its address. */
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number; readonly records: number }
  /** The history is with the service. */
  | { readonly kind: 'current'; readonly blocks: number }
  | { readonly kind: 'line'; readonly source: 'webhook' | 'processor'; readonly text: string }
  | { readonly kind: 'fault'; readonly message: string }
