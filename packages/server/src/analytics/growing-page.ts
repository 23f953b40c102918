import type { Column } from './columns.ts'
import type { Page, PageFill } from './page.ts'

/** A first page that is given while its rows still come. */
export interface GrowingPage {
  readonly columns: readonly Column[]
  /**
   * The text of the rows, as JSON objects with commas between them: what is there, and then what comes, to the end of the page. Throws where that
   * cannot be told. Of a page that is given to its reader alone what was read is forgotten, so that is done once.
   */
  rows(): AsyncIterable<Uint8Array>
  /**
   * The page when it has ended. Where the statement failed behind the rows that were there, they are the page, and `next` leads to the failure. Rejects
   * where that could not be kept: what was given then has no end.
   */
  readonly whole: Promise<Page>
}

/** A growing page, and how those who fill it tell of it. */
export interface PageGrowth {
  readonly page: GrowingPage
  /** More rows are there. */
  grown(): void
  end(page: Page): void
  fail(error: unknown): void
}

/** Stands behind every row, and must not behind the last. */
const SEPARATOR_BYTES = 2

/** Gives the rows of a page as they come. The page itself is filled by others, and by no less when nobody reads. */
export function createPageGrowth(
  columns: readonly Column[],
  fill: Pick<PageFill, 'parts' | 'forget'>,
  { isForReaderAlone }: { readonly isForReaderAlone: boolean },
): PageGrowth {
  const whole = Promise.withResolvers<Page>()
  // Whoever reads the rows hears of it too.
  whole.promise.catch(() => undefined)
  const state = { isOver: false, more: Promise.withResolvers<void>() }

  function wake(): void {
    state.more.resolve()
    state.more = Promise.withResolvers()
  }

  async function* rows(): AsyncGenerator<Uint8Array> {
    let place = 0
    let from = 0
    for (;;) {
      const { isOver, more } = state
      for (let part = fill.parts[place]; part; part = fill.parts[place]) {
        const isLast = place === fill.parts.length - 1
        const end = isLast ? part.length - SEPARATOR_BYTES : part.length
        if (end > from) yield part.subarray(from, end)
        from = end
        if (isLast) break
        if (isForReaderAlone) fill.forget(place)
        place++
        from = 0
      }
      if (isOver) break
      await more.promise
    }
    await whole.promise
  }

  return {
    page: { columns, rows, whole: whole.promise },
    grown: wake,
    end: (page) => {
      whole.resolve(page)
      state.isOver = true
      wake()
    },
    fail: (error) => {
      whole.reject(error)
      state.isOver = true
      wake()
    },
  }
}
