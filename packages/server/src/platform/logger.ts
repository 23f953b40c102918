import { pino, type Logger as PinoLogger } from 'pino'

/** Structured log. One object first, then a constant text: `log.info({ lane }, 'delivery.attempted')`. */
export type Logger = Pick<PinoLogger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'> & {
  child(bindings: Readonly<Record<string, unknown>>): Logger
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export interface LoggerOptions {
  readonly level: (typeof LOG_LEVELS)[number]
  /** Lines for people instead of JSON. */
  readonly isPretty: boolean
}

/** Logs to standard error; standard output belongs to what a command answers. */
export function createLogger({ level, isPretty }: LoggerOptions): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    redact: REDACTED,
  }
  if (!isPretty) return pino(options, pino.destination({ fd: 2, sync: true }))
  return pino({
    ...options,
    transport: {
      target: 'pino-pretty',
      options: { destination: 2, ignore: 'hostname,pid', translateTime: 'SYS:HH:MM:ss' },
    },
  })
}

/** A logger that writes nothing. */
export const silentLogger: Logger = pino({ level: 'silent' })

// Whatever object is logged by mistake, these never show.
const REDACTED = [
  'apiKey',
  'secret',
  'password',
  'authorization',
  '["api-key"]',
  'headers.authorization',
  'headers["api-key"]',
]
