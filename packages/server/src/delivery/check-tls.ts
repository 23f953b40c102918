import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { invalidArgument } from '../platform/errors.ts'
import type { ChannelTls } from './channel.ts'

const MAX_PEM_LENGTH = 64 * 1024
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Checks that the certificates can be read, and that the client's key is that of its certificate (DL-10). */
export function checkTls(tls: ChannelTls): ChannelTls {
  const { certificateAuthority, clientCertificate, clientKey } = tls
  if (certificateAuthority !== null) readCertificates('tls.certificateAuthority', certificateAuthority)
  if ((clientCertificate === null) !== (clientKey === null)) {
    throw invalidArgument('tls: clientCertificate and clientKey must be given together')
  }
  if (clientCertificate === null || clientKey === null) return tls
  const [certificate] = readCertificates('tls.clientCertificate', clientCertificate)
  if (certificate?.checkPrivateKey(readKey(clientKey)) !== true) {
    throw invalidArgument('tls.clientKey: must be the key of the first certificate in clientCertificate')
  }
  return tls
}

function readCertificates(field: string, text: string): readonly X509Certificate[] {
  const parts = text.length <= MAX_PEM_LENGTH ? (text.match(CERTIFICATE) ?? []) : []
  try {
    if (parts.length > 0) return parts.map((part) => new X509Certificate(part))
  } catch {
    // Said below.
  }
  throw invalidArgument(
    `${field}: must be one or more certificates in PEM (-----BEGIN CERTIFICATE-----), at most ${MAX_PEM_LENGTH} characters`,
  )
}

function readKey(text: string): KeyObject {
  try {
    if (text.length <= MAX_PEM_LENGTH) return createPrivateKey(text)
  } catch {
    // Said below; the reason of the library could repeat the key.
  }
  throw invalidArgument('tls.clientKey: must be a private key in PEM without a passphrase')
}
