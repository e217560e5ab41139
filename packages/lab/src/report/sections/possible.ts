import { quantity, type Unit } from '../../compare/quantities.js'
import type { LabResult, Possible } from '../../figures/lab-result.js'
import { html, type Html } from '../html.js'
import { overSeeds } from '../means.js'
import type { Series } from '../series.js'
import { cell, key, row, table } from './parts.js'

const UNITS: Readonly<Record<string, Unit>> = { km: 'km', ms: 'roundTripMs' }

/** What was reached beside what was possible at all. Undefined if no run tells it. */
export function possible({ variants }: LabResult, series: readonly Series[]): Html | undefined {
  const rows = series.flatMap((one) => {
    const runs = (variants[one.index]?.runs ?? []).map((run) => run.possible ?? [])
    const kinds = new Map(runs.flat().map((bound) => [idOf(bound), bound]))
    return [...kinds].map(([id, { queue, what, unit, kind }]) => {
      const own = runs.map((run) => run.find((bound) => idOf(bound) === id))
      const [reached, least] = [
        overSeeds(own.map((bound) => bound?.reached)),
        overSeeds(own.map((bound) => bound?.possible)),
      ]
      const shown = (value: number | undefined) => quantity(value ?? 0, UNITS[unit] ?? 'skill')
      const times = (reached?.mean ?? 0) / (least?.mean ?? 0)
      return row(html`${key(one)}<small>${queue}: ${what}</small>`, [
        cell(shown(reached?.mean)),
        cell(shown(least?.mean), html`<small>${kind}</small>`),
        cell(Number.isFinite(times) ? `${times.toFixed(2)} ×` : '–'),
      ])
    })
  })
  if (rows.length === 0) return undefined
  return table({
    caption: 'Reached and possible',
    note: 'An optimum could have been had by foresight; below a lower bound nothing can be, nor perhaps near it.',
    head: ['cost', 'reached', 'possible', 'ratio'],
    rows,
    wide: false,
  })
}

const idOf = ({ queue, what }: Possible) => JSON.stringify([queue, what])
