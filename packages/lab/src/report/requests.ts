import { quantity } from '../compare/index.js'
import type { LabResult } from '../figures/index.js'
import { html, type Html } from './page.js'
import { type Canvas, dotsByGroup } from './canvas.js'
import { meanRefusals, overSeeds, type Series } from './series.js'
import { cell, key, row, table } from './parts.js'

/** Requests to the service beside what it allows. */
export function requests(canvas: Canvas, { variants }: LabResult, series: readonly Series[]): Html | undefined {
  const runs = variants.flatMap((variant) => variant.runs.map(({ figures }) => figures.requests))
  const operations = [...new Set(runs.flatMap((one) => Object.keys(one)))]
  if (operations.length === 0) return undefined
  const usesOf = (operation: string, { index }: Series) =>
    (variants[index]?.runs ?? []).flatMap(({ figures: { requests: all } }) =>
      Object.hasOwn(all, operation) ? (all[operation] ?? []) : [],
    )
  const limited = operations.filter((operation) =>
    series.some((one) => usesOf(operation, one).some(({ limit }) => limit)),
  )
  const rows = operations.flatMap((operation) =>
    series.map((one) => {
      const uses = usesOf(operation, one)
      const [total, busiest] = [overSeeds(uses.map((use) => use.total)), overSeeds(uses.map((use) => use.busiest))]
      const name = series.length === 1 ? operation : html`${one.index === 0 && html`<b>${operation}</b>`}${key(one)}`
      const { limit, windowMs } = uses[0] ?? {}
      const allowed = limit === undefined ? '–' : `${limit} in ${quantity(windowMs ?? 0, 'ms')}`
      const most = limit === undefined || busiest === undefined ? '–' : quantity(busiest.high, 'count')
      return row(name, [cell(quantity(total?.mean ?? 0, 'count')), cell(most), cell(allowed)], one.index === 0)
    }),
  )
  const plot = dotsByGroup(canvas, series, {
    title: 'Requests beside their limits',
    note: 'The busiest moment of each kind of request, as a share of what the service allows. Lines span the seeds.',
    label: 'of the limit (%)',
    rule: 100,
    groups: limited,
    of: (operation, one) =>
      overSeeds(usesOf(operation, one).map(({ busiest, limit }) => (limit ? (busiest / limit) * 100 : undefined))),
  })
  return html`<div class="plots">
    ${limited.length > 0 && plot}${table({
      caption: 'Requests to the service',
      note: 'Total: mean over the seeds. Busiest: the most in one window of the limit, in any seed.',
      head: ['request', 'total', 'busiest', 'limit'],
      rows,
      wide: false,
    })}
  </div>`
}

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
