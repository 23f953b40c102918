import { Page } from '../parts/page.tsx'

/** Stub. */
export function SqlPage() {
  return <Page title="SqlPage">{null}</Page>
}
