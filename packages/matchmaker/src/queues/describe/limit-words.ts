// pure: a limit that relaxes, in words
import { isBounds, type Relaxing } from '../rules/relaxing.js'
import { digits, duration } from './words.js'

export interface LimitWords {
  /** What stands before the limit, e.g. `at most`. */
  readonly lead: string
  /** A limit with its unit. */
  readonly show?: ((limit: number) => string) | undefined
  /** The first limit, if it is said more fully than those after it. */
  readonly first?: ((limit: number) => string) | undefined
  /** No limit at all, e.g. `anywhere`. */
  readonly free: string
  /** No limit from the beginning, if that is said more fully. */
  readonly freeAtFirst?: string | undefined
}

/** `within 500 km at first, 2,000 km after 10 s, anywhere after 60 s`. */
export function limitWords(
  relaxing: Relaxing,
  { lead, show = digits, first = show, free, freeAtFirst = free }: LimitWords,
): string {
  const begin = (limit: number) => (limit === Infinity ? freeAtFirst : `${lead} ${first(limit)}`)
  if (typeof relaxing === 'number') return begin(relaxing)
  if (isBounds(relaxing)) {
    const { strictest, loosest } = relaxing
    if (strictest === loosest) return begin(strictest)
    return `${begin(strictest)} at the strictest, ${show(loosest)} at the loosest`
  }
  if ('from' in relaxing) {
    const { from, to, startMs = 0, overMs } = relaxing
    if (from === to) return begin(from)
    const when =
      startMs === 0 ? `over ${duration(overMs)}` : `between ${duration(startMs)} and ${duration(startMs + overMs)}`
    return `${begin(from)} at first, ${to > from ? 'growing' : 'falling'} evenly to ${show(to)} ${when}`
  }
  const [start, ...later] = relaxing
  const words = later.map(({ afterMs, value }, index) => {
    const isSame = value === relaxing[index]?.value
    return `${isSame ? 'still ' : ''}${value === Infinity ? free : show(value)} after ${duration(afterMs)}`
  })
  const now = begin(start?.value ?? 0)
  return words.length === 0 ? now : [`${now} at first`, ...words].join(', ')
}
