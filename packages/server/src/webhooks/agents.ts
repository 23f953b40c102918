import { createHash } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { Agent } from 'undici'
import type { ChannelTls } from '../delivery/channel.ts'
import type { AddressGuard } from './address-guard.ts'

/** Connections to receivers, kept apart by what they trust and how they introduce themselves. */
export interface Agents {
  agentFor(tls: ChannelTls): Agent
  destroy(): Promise<void>
}

/** Of an answer; what is longer fails the attempt. */
export const HEADERS_BYTES_MAX = 16 * 1024
/** Ends attempts to connect that nobody waits for any more. */
const CONNECT_TIMEOUT_MS = 5000
/** Agents with settings of their own; beyond that the one that was used least recently closes its connections. */
const AGENTS_MAX = 200

/** No redirects, no decompression, no proxy of the environment; the guard sees every address before it is used (DL-10). */
export function createAgents(guard: AddressGuard): Agents {
  const agents = new Map<string, Agent>()

  function createAgent({ certificateAuthority, clientCertificate, clientKey }: ChannelTls): Agent {
    return new Agent({
      connect: {
        lookup: guard.lookup,
        timeout: CONNECT_TIMEOUT_MS,
        // A channel's own authority is trusted besides those of the system.
        ...(certificateAuthority === null ? {} : { ca: [...rootCertificates, certificateAuthority] }),
        ...(clientCertificate === null ? {} : { cert: clientCertificate }),
        ...(clientKey === null ? {} : { key: clientKey }),
      },
      // The deadline of the request covers connecting, sending and waiting; undici's own limits stay out of its way.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: HEADERS_BYTES_MAX,
      pipelining: 1,
    })
  }

  return {
    agentFor(tls) {
      const key = keyOf(tls)
      const agent = agents.get(key) ?? createAgent(tls)
      agents.delete(key)
      agents.set(key, agent)
      const [[oldestKey, oldest] = []] = agents.size > AGENTS_MAX ? agents : []
      if (oldestKey !== undefined && oldest !== undefined) {
        agents.delete(oldestKey)
        void oldest.close()
      }
      return agent
    },
    async destroy() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
      agents.clear()
    },
  }
}

function keyOf({ certificateAuthority, clientCertificate, clientKey }: ChannelTls): string {
  const parts = [certificateAuthority, clientCertificate, clientKey]
  if (parts.every((part) => part === null)) return ''
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
