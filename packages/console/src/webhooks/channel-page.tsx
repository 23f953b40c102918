import { Page } from '../parts/page.tsx'

/** Stub. */
export function ChannelPage() {
  return <Page title="ChannelPage">{null}</Page>
}
