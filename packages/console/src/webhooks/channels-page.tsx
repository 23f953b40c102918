import { Page } from '../parts/page.tsx'

/** Stub. */
export function ChannelsPage() {
  return <Page title="ChannelsPage">{null}</Page>
}
