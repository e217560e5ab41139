import { quantity } from '../../compare/quantities.js'
import type { LabResult } from '../../figures/lab-result.js'
import type { Html } from '../html.js'
import { meanRefusals } from '../means.js'
import type { Series } from '../series.js'
import { cell, key, row, table } from './parts.js'

/** Why players were refused, by variant; undefined if nobody was. */
export function refusals({ variants }: LabResult, series: readonly Series[]): Html | undefined {
  const shares = variants.map((variant) => new Map(meanRefusals(variant).map(({ why, share }) => [why, share])))
  const reasons = [...new Set(shares.flatMap((of) => [...of.keys()]))]
  if (reasons.length === 0) return undefined
  return table({
    caption: 'Why players were refused',
    note: 'Shares of all players in tickets.',
    head: ['reason', ...series.map(key)],
    rows: reasons.map((why) =>
      row(
        why,
        shares.map((of) => cell(quantity(of.get(why) ?? 0, 'share'))),
      ),
    ),
  })
}
