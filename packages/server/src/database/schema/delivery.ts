import type { Generated } from 'kysely'

/** One row a channel: where it delivers, and its limits. */
interface LaneTable {
  id: Generated<number>
  project_id: number
  name: string
  created_at: number
  /** Set when the channel was deleted. The row stays, so that event ids are never given out twice (EV-1). */
  deleted_at: number | null
  /** Null until somebody gives an address (IN-7). */
  url: string | null
  /** A JSON object of header names and values. */
  headers: string
  /** `whsec_…`; null until an address is given. */
  secret: string | null
  /** Signs as well, until its instant: receivers change over meanwhile (DL-1). */
  previous_secret: string | null
  previous_secret_until_at: number | null
  /** PEM; null is what the system trusts. */
  certificate_authority: string | null
  client_certificate: string | null
  client_key: string | null
  /** Host and port of the url, for the cap that channels share (DL-9). */
  host: string | null
  /** Requests under way at most (DL-3). */
  requests_at_once: number
  /** Null is no limit (DL-3). */
  requests_per_second: number | null
  /** A message waits until its block is that deep (DL-13). */
  confirmations: number
  is_retracting: number
  /** The channel of the same project that hears of failures (DL-12). */
  alert_channel: string | null
  /** What was told of the present failure: a place in `ALERT_LEVELS`, or `TOLD_BEFORE`. */
  alert_level: number
  max_batch_messages: number
  max_batch_bytes: number
  backoff_initial_ms: number
  backoff_cap_ms: number
  dead_letter_age_ms: number
  dead_letter_attempts: number
  is_paused: number
  /** Why nothing is sent any more until somebody says otherwise; null while the channel is in use. */
  disabled_reason: string | null
  /** Messages age from here or from their arrival, whichever is later (IN-7). */
  ages_from_at: number
}

/** One row a channel: the state of its lane, and who holds its lease (DL-3). The key is lane and epoch, which rises with each claim. */
interface LaneStateTable {
  lane_id: number
  epoch: number
  failures: number
  failing_since_at: number | null
  refusals: number
  batch_limit: number | null
  next_attempt_at: number
  /** No message at or below it waits, but for shelved ones. */
  cursor_seq: number
  served_at: number
  owner: string | null
  lease_until_at: number
}

/**
 * Counters of a lane that only ingest writes, one row a lane; its lock makes the order of `seq` the order of commits. The key is lane and
 * `next_seq`.
 */
interface LaneCounterTable {
  lane_id: number
  next_seq: number
  next_chunk: number
  /** Bytes of all messages that ever joined the queue. */
  next_byte: number
}

/** Messages that wait; nothing else (DL-6). */
interface MessageTable {
  lane_id: number
  seq: number
  event_id: number
  version: number
  chain: string
  block_number: number
  /** SHA-256 of the body, base64url. */
  hash: string
  body: Uint8Array
  body_bytes: number
  /** Of the bytes of all messages that ever joined the queue, where it begins. */
  first_byte: Generated<number>
  enqueued_at: number
  /** Attempts of this message alone, after it was found to be the refused one (DL-4). */
  tries: number
  /** Null while the message goes with the lane; else the instant of its own next attempt. */
  shelved_until_at: number | null
}

/** The newest revision of each event id that the receiver has acknowledged (DL-8). */
interface SentTable {
  lane_id: number
  event_id: number
  seq: number
  version: number
  hash: string
  sent_at: number
  /** The message up to its data; for channels that retract (DL-13). */
  head: string | null
}

/** Messages whose block is not deep enough yet (DL-13). They are not in the queue. */
interface HeldMessageTable {
  lane_id: number
  event_id: number
  version: number
  chain: string
  block_number: number
  /** Of its arrival: the order in which messages join the queue. */
  seq: number
  hash: string
  body: Uint8Array
  held_at: number
}

/** Delivered messages of rolled-back blocks, to be retracted unless they are emitted again (DL-13). */
interface RetractionTable {
  lane_id: number
  event_id: number
  version: number
  chain: string
  block_number: number
  head: string
}

/** The highest block that a processor version has sent anything of; for projects that confirm or retract. */
interface ChainHeadTable {
  project_id: number
  version: number
  chain: string
  block_number: number
}

/** Which ids a block of a chain has in a lane (EV-1), in chunks of positions. Never deleted. */
interface EventIdTable {
  lane_id: number
  chain: string
  block_number: number
  /** Number of the chunk of positions within the block. */
  block_chunk: number
  /** Number of the chunk of ids within the lane. */
  id_chunk: number
}

/** How many exports without a position a block has had, per processor version. */
interface ArrivalTable {
  lane_id: number
  version: number
  chain: string
  block_number: number
  next_position: number
}

/** Every attempt (DL-11). */
interface AttemptTable {
  id: Generated<number>
  lane_id: number
  webhook_id: string
  started_at: number
  duration_ms: number
  outcome: string
  status: number | null
  reason: string
  messages: number
  bytes: number
  first_event_id: number
  last_event_id: number
  answer: Uint8Array
}

/** A batch that was given up (DL-5). */
interface DeadLetterTable {
  id: Generated<number>
  project_id: number
  lane_id: number
  died_at: number
  attempts: number
  last_status: number | null
  last_error: string
  last_pulled_at: number
  /** When somebody asked to send it again; null while it only lies there (DD-4). */
  redrive_at: number | null
}

interface DeadMessageTable {
  letter_id: number
  lane_id: number
  seq: number
  event_id: number
  version: number
  chain: string
  block_number: number
  hash: string
  body: Uint8Array
  /** 1 as soon as a newer revision exists (DL-8). */
  is_superseded: number
}

export interface DeliveryTables {
  webhook_lane: LaneTable
  webhook_lane_state: LaneStateTable
  webhook_lane_counter: LaneCounterTable
  webhook_message: MessageTable
  webhook_sent: SentTable
  webhook_held_message: HeldMessageTable
  webhook_retraction: RetractionTable
  webhook_chain_head: ChainHeadTable
  webhook_event_id: EventIdTable
  webhook_arrival: ArrivalTable
  webhook_attempt: AttemptTable
  webhook_dead_letter: DeadLetterTable
  webhook_dead_message: DeadMessageTable
}
