/**
 * How long an answer asks to wait, in milliseconds, from its Retry-After: seconds, or an HTTP date.
 * A date is counted from the answer's own Date where there is one, so that a difference between the
 * clocks of client and service does not matter. Undefined when there is no readable wish. Pure.
 */
export function retryAfterMs(
  headers: { readonly retryAfter: string | undefined; readonly date: string | undefined },
  now: number,
): number | undefined {
  const wish = headers.retryAfter?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(wish)) return Math.ceil(Number(wish) * 1000)
  const until = httpDate(wish)
  if (until === undefined) return undefined
  return Math.max(0, until - (httpDate(headers.date) ?? now))
}

/** Epoch milliseconds of 'Wed, 21 Oct 2026 07:28:00 GMT'. Date.parse alone would take almost anything. */
function httpDate(text: string | undefined): number | undefined {
  if (text === undefined || !/^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)) return undefined
  const instant = Date.parse(text)
  return Number.isNaN(instant) ? undefined : instant
}
