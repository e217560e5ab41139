// pure: waiting times in bins, narrow where they are short
/**
 * The bins: up to so many seconds, so many seconds wide each (our choice). They begin at round times, because rules
 * give way at such, and many tickets are matched just then.
 */
const WIDTHS: readonly (readonly [upTo: number, wide: number])[] = [
  [1, 0.1],
  [5, 0.25],
  [20, 0.5],
  [60, 1],
  [180, 5],
  [600, 15],
  [3600, 60],
  [14_400, 600],
]

interface Span {
  readonly toMs: number
  readonly widthMs: number
  readonly fromMs: number
  readonly firstBin: number
}

const SPANS: readonly Span[] = WIDTHS.reduce<Span[]>((spans, [upTo, wide]) => {
  const last = spans.at(-1)
  const fromMs = last?.toMs ?? 0
  const firstBin = last === undefined ? 0 : last.firstBin + (last.toMs - last.fromMs) / last.widthMs
  return [...spans, { toMs: upTo * 1000, widthMs: wide * 1000, fromMs, firstBin }]
}, [])

/** Milliseconds of waiting at which each bin begins. The last bin has no end. */
export const EDGES: readonly number[] = [
  ...SPANS.flatMap(({ fromMs, toMs, widthMs }) =>
    Array.from({ length: (toMs - fromMs) / widthMs }, (_, bin) => fromMs + bin * widthMs),
  ),
  (SPANS.at(-1) as Span).toMs,
]

export const BINS = EDGES.length

/** The bin of a waiting time in milliseconds. */
export function binOf(waitedMs: number): number {
  for (const { toMs, fromMs, widthMs, firstBin } of SPANS)
    if (waitedMs < toMs) return firstBin + Math.max(0, Math.floor((waitedMs - fromMs) / widthMs))
  return BINS - 1
}
