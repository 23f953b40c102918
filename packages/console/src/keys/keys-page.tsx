import { Page } from '../parts/page.tsx'

/** Stub. */
export function KeysPage() {
  return <Page title="KeysPage">{null}</Page>
}
