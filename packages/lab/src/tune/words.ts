// pure: schedules and promises in words
import type { TimedLimit } from '@muster/matchmaker'
import { quantity } from '../compare/quantities.js'
import type { Change } from './change.js'
import type { PromiseName } from './promises.js'
import type { QualityPart } from './quality.js'

/** `50, 100 after 10 s, no limit after 30 s`; `500 to 2000 over 60 s`. @param isWait whether it is a wait in ms. */
export function relaxingWords(relaxing: TimedLimit, isWait = false): string {
  const number = (value: number) => (value === Infinity ? 'no limit' : isWait ? quantity(value, 'ms') : String(value))
  const time = (ms: number) => quantity(ms, 'ms')
  if (typeof relaxing === 'number') return number(relaxing)
  if ('from' in relaxing) {
    const { from, to, startMs = 0, overMs } = relaxing
    const when = startMs === 0 ? `over ${time(overMs)}` : `from ${time(startMs)} to ${time(startMs + overMs)}`
    return `${number(from)} to ${number(to)} ${when}`
  }
  return relaxing
    .map(({ afterMs, value }) => (afterMs === 0 ? number(value) : `${number(value)} after ${time(afterMs)}`))
    .join(', ')
}

/** `29.5 s`, `3 min 5 s`, `5.0 %`. Promises are kept or broken by parts of a second. */
export function promiseWords(promise: PromiseName, value: number): string {
  if (value === Infinity) return 'never'
  if (promise === 'gaveUp') return quantity(value, 'share')
  return value < 1000 || value >= 120_000 ? quantity(value, 'ms') : `${Number((value / 1000).toFixed(1))} s`
}

const MEASURES: Readonly<Record<QualityPart['what'], string>> = {
  distanceKm: 'km to the middle of the match',
  latencyMs: 'ms to the best beacon',
  skillSpread: 'skill spread in the match',
  teamGap: 'gap between the teams',
  favourite: "the favourite's chance above 50 %",
  limit: 'the limit in force',
}

/** `skill spread in the match / 50`, a part of a cost. */
export const partWords = ({ name, what, per }: QualityPart): string =>
  `${MEASURES[what]}${what === 'limit' ? ` of ${name}` : ''} / ${per}`

/** What each limit becomes, in a sentence each. */
export const changeSentences = ({ changes }: { readonly changes: readonly Change[] }): string[] =>
  changes.map(({ name, isWait, was, is }) => {
    const [before, after] = [relaxingWords(was, isWait), relaxingWords(is, isWait)]
    return before === after ? `${name} stays ${before}.` : `${name}: ${after}; it was ${before}.`
  })
