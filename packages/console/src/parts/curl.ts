/** A request to the API as a command to paste. The key is a variable of the shell: no secret is shown. */
export function curlCommand(path: string, body: unknown): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", String.raw`'\''`)
  return `curl -s '${location.origin}/api/v1${path}' \\
  -H "api-key: $MILLRACE_API_KEY" -H 'content-type: application/json' \\
  -d '${json}'`
}
