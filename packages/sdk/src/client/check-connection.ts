import type { Connection } from './request.ts'

/**
 * Throws a `TypeError` that names the option at fault, and what is allowed, when no request could ever be made with these. Without it a misspelt
 * address would look like a service that is away, and be waited for.
 */
export function checkConnection({ baseUrl, apiKey }: Pick<Connection, 'baseUrl' | 'apiKey'>): void {
  const protocol = URL.canParse(baseUrl) ? new URL(baseUrl).protocol : ''
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TypeError(
      `baseUrl must be an http or https address such as http://127.0.0.1:8080, not ${JSON.stringify(baseUrl)}`,
    )
  }
  // The key itself is not repeated: what is thrown ends in logs.
  if (typeof apiKey !== 'string' || /[^\u0021-\u007E]/.test(apiKey.trim())) {
    throw new TypeError('apiKey must be a text of ASCII characters without spaces, as keys are made of')
  }
}
