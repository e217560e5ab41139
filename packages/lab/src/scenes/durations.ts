// pure: times as people write them, e.g. `12s` or `1m 30s`

/** Longest time of a scene: a day of virtual time, in which every limit has relaxed (our choice). */
export const LONGEST_MS = 24 * 3_600_000

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 }

/** As JSON Schema has it. */
export const DURATION = /^\d+(\.\d+)?(ms|s|m|min|h)( ?\d+(\.\d+)?(ms|s|m|min|h))*$/

export const NO_DURATION = 'must be a time with its unit, e.g. 12s, 500ms or 1m 30s'
export const TOO_LONG = 'must be at most 24h: a scene of rules ends when every limit has relaxed'

/** Milliseconds; undefined for a text that is no time. Fractions of a millisecond are rounded. */
export function durationOf(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined
  const parts = Array.from(text.matchAll(/(\d+(?:\.\d+)?)(ms|min|s|m|h)/g))
  return Math.round(parts.reduce((sum, [, many, unit = '']) => sum + Number(many) * (UNIT_MS[unit] ?? 0), 0))
}

/** `90000` as `1m 30s`. */
export function durationWords(ms: number): string {
  if (ms < 1000) return ms === 0 ? '0s' : `${ms}ms`
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60]
  const seconds = (ms % 60_000) / 1000
  const parts = [
    ...(hours > 0 ? [`${hours}h`] : []),
    ...(minutes > 0 ? [`${minutes}m`] : []),
    ...(seconds > 0 ? [`${seconds}s`] : []),
  ]
  return parts.join(' ')
}

/** A moment at which something happens or is expected. */
export interface Moment {
  /** `after`: as it is then; `by`: as it was at any time until then. */
  readonly when: 'after' | 'by'
  readonly at: number
}

/** `after 12s` or `by 20s`; undefined for another text. */
export function momentOf(text: string): Moment | undefined {
  const [, when, time = ''] = /^(after|by) +(.+)$/.exec(text) ?? []
  const at = durationOf(time)
  return at === undefined ? undefined : { when: when as Moment['when'], at }
}
