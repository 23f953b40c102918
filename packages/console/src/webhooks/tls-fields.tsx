import type { ChannelUpdate, ChannelView } from '@millrace/contract'
import { TextInput } from '../parts/field.tsx'

/** Certificates and key as the form has them: PEM, or empty. The key of an existing channel is never shown. */
export interface TlsTexts {
  readonly certificateAuthority: string
  readonly clientCertificate: string
  readonly clientKey: string
}

/** The texts of a channel; empty for a new one. */
export function tlsTextsOf(channel: ChannelView | undefined): TlsTexts {
  return {
    certificateAuthority: channel?.tls.certificateAuthority ?? '',
    clientCertificate: channel?.tls.clientCertificate ?? '',
    clientKey: '',
  }
}

/** The texts in the form of the API: a key that was not typed anew stays, and goes with its certificate. */
export function tlsToWire({ certificateAuthority, clientCertificate, clientKey }: TlsTexts) {
  return {
    certificateAuthority: certificateAuthority.trim(),
    clientCertificate: clientCertificate.trim(),
    ...(clientKey.trim() !== '' || clientCertificate.trim() === '' ? { clientKey: clientKey.trim() } : {}),
  } satisfies ChannelUpdate['tls']
}

/** Whom a channel trusts, and how it introduces itself. */
export function TlsFields({
  texts,
  hasKey,
  onChange,
}: {
  readonly texts: TlsTexts
  /** A key is stored already. */
  readonly hasKey: boolean
  readonly onChange: (texts: TlsTexts) => void
}) {
  const isUsed = Object.values(texts).some((text) => text !== '') || hasKey
  return (
    <details className="fold" open={isUsed}>
      <summary>TLS: private authorities and client certificates</summary>
      <div className="stack tight">
        <TextInput
          label="Certificate authority"
          hint="PEM; trusted besides the public ones. Empty: only the public ones."
          lines={4}
          isMono
          placeholder="-----BEGIN CERTIFICATE-----"
          value={texts.certificateAuthority}
          onChange={(certificateAuthority) => onChange({ ...texts, certificateAuthority })}
        />
        <TextInput
          label="Client certificate"
          hint="PEM; shown to receivers that ask for one."
          lines={4}
          isMono
          placeholder="-----BEGIN CERTIFICATE-----"
          value={texts.clientCertificate}
          onChange={(clientCertificate) => onChange({ ...texts, clientCertificate })}
        />
        <TextInput
          label="Key of the client certificate"
          hint={
            hasKey
              ? 'One is stored and never shown. Empty: it stays.'
              : 'PEM without a passphrase. It is stored sealed from view: no answer shows it.'
          }
          lines={4}
          isMono
          placeholder="-----BEGIN PRIVATE KEY-----"
          value={texts.clientKey}
          onChange={(clientKey) => onChange({ ...texts, clientKey })}
        />
      </div>
    </details>
  )
}
