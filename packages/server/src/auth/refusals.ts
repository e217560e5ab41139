import type { Clock } from '@muster/core/clock'

/** Milliseconds for which rejections are collected into one log line (our choice). */
const WINDOW_MS = 60_000
/**
 * Maximum number of reasons that are counted separately (our choice). Tokens cannot choose a reason's text freely, but
 * reasons contain names of claims.
 */
const MOST_REASONS = 32
const OTHER = 'another reason'

/** Counts rejected tokens by reason, and logs the counts once a minute. */
export function createRefusals(clock: Clock, say: (text: string) => void) {
  const totals = new Map<string, number>()
  let sinceLast = new Map<string, number>()
  let counting = false
  const ending = new AbortController()

  const flush = () => {
    counting = false
    const counts = [...sinceLast].toSorted(([, one], [, other]) => other - one)
    sinceLast = new Map()
    const sum = counts.reduce((all, [, count]) => all + count, 0)
    const parts = counts.map(([reason, count]) => `${count}: ${reason}`)
    say(`Refused tokens in the last minute: ${sum}. ${parts.join('. ')}.`)
  }

  return {
    refused: (reason: string): void => {
      const kind = totals.has(reason) || totals.size < MOST_REASONS ? reason : OTHER
      totals.set(kind, (totals.get(kind) ?? 0) + 1)
      sinceLast.set(kind, (sinceLast.get(kind) ?? 0) + 1)
      if (counting || ending.signal.aborted) return
      counting = true
      clock.sleep(WINDOW_MS, ending.signal).then(flush, flush)
    },
    /** Returns the number of rejected tokens since the start, by reason. */
    totals: (): Readonly<Record<string, number>> => Object.fromEntries(totals),
    /** Logs the remaining counts and stops. */
    close: () => ending.abort(),
  }
}
