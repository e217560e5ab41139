/**
 * The wait that an answer's Retry-After asks for, in milliseconds; given as seconds or an HTTP date. A date is compared
 * with the answer's own Date, if present, so that different clocks of client and service do not matter. Undefined
 * without a readable Retry-After. Pure.
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

/** Epoch milliseconds of 'Wed, 21 Oct 2026 07:28:00 GMT'. Date.parse alone would accept almost any text. */
function httpDate(text: string | undefined): number | undefined {
  if (text === undefined || !/^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)) return undefined
  const instant = Date.parse(text)
  return Number.isNaN(instant) ? undefined : instant
}
