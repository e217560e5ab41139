import { type Comparison, groupsOf, SLICE_MEASURES, slicesOf, quantity } from '../compare/index.js'
import type { Dimension, Fairness, LabResult, Slice } from '../figures/index.js'
import { html, type Html } from './page.js'
import { type Canvas, dotsByGroup } from './canvas.js'
import { overSeeds, type VariantSeries } from './series.js'
import { cell, key, plots, row, table } from './parts.js'
import { differenceText } from './side-by-side.js'

const NAMES: Readonly<Record<Dimension, string>> = {
  queue: 'queue',
  region: 'region',
  partySize: 'party size',
  skillBand: 'skill',
}

/** Shows how well each group of a dimension was served: plots, and a table with all measures. */
export function groups(
  canvas: Canvas,
  result: LabResult,
  comparisons: readonly Comparison[],
  series: readonly VariantSeries[],
  dimension: Dimension,
): Html | undefined {
  const names = groupsOf(result.variants, dimension)
  if (names.length < 2) return undefined
  const of =
    (value: (slice: Slice) => number | undefined) =>
    (group: string, { index }: VariantSeries) => {
      const variant = result.variants[index]
      return variant && overSeeds(slicesOf(variant, dimension, group).map((slice) => slice && value(slice)))
    }
  const what = NAMES[dimension]
  const percent = (value: number) => value * 100
  return html`<h3>By ${what}</h3>
    ${plots([
      dotsByGroup(canvas, series, {
        title: `Matched by ${what}`,
        note: 'Share of the players who found a match. Lines span the seeds.',
        label: 'matched (%)',
        domain: [0, 100],
        groups: names,
        of: of(({ matched }) => percent(matched)),
      }),
      dotsByGroup(canvas, series, {
        title: `Waiting by ${what}`,
        note: 'Within so many seconds 90 % of the matched were matched. Lines span the seeds.',
        label: 'waited (s)',
        groups: names,
        of: of(({ waitMs }) => (waitMs.count === 0 ? undefined : waitMs.p90 / 1000)),
      }),
    ])}${groupTable(result, comparisons, series, dimension, names)}`
}

function groupTable(
  { variants }: LabResult,
  comparisons: readonly Comparison[],
  series: readonly VariantSeries[],
  dimension: Dimension,
  names: readonly string[],
): Html {
  const slices = names.flatMap((group) => variants.flatMap((variant) => slicesOf(variant, dimension, group)))
  const measures = SLICE_MEASURES.filter(({ of }) => slices.some((slice) => slice && of(slice) !== undefined))
  const rows = names.flatMap((group) =>
    series.map((one) => {
      const own = variants[one.index]
      const found = own === undefined ? [] : slicesOf(own, dimension, group)
      // In some seeds, a small group may have no players.
      const players = overSeeds(found.map((slice) => slice?.players ?? 0))
      const differences = comparisons[one.index - 1]?.slices.filter(
        (two) => two.dimension === dimension && two.group === group,
      )
      const cells = measures.map((measure) => {
        const value = overSeeds(found.map((slice) => slice && measure.of(slice)))
        const difference = differences?.find((two) => two.key === measure.key)
        if (value === undefined) return cell('–')
        return cell(quantity(value.mean, measure.unit), difference && differenceText(difference, measure.unit))
      })
      const name = series.length === 1 ? group : html`${one.index === 0 && html`<b>${group}</b>`}${key(one)}`
      return row(name, [cell(quantity(players?.mean ?? 0, 'count')), ...cells], one.index === 0)
    }),
  )
  return table({
    caption: `All figures by ${NAMES[dimension]}`,
    note: "Distance, latency, skill spread, team gap and the own team's chance are means over the matched.",
    head: [NAMES[dimension], 'players', ...measures.map(({ label }) => label)],
    rows,
  })
}

const DIMENSIONS: readonly (keyof Fairness['by'])[] = ['region', 'skillBand', 'partySize']

/** Plots how much more often players of each group are among the worst served than among all players. */
export function worstServed(canvas: Canvas, { variants }: LabResult, series: readonly VariantSeries[]): Html[] {
  return DIMENSIONS.flatMap((dimension) => {
    const names = groupsOf(variants, dimension)
    if (names.length < 2) return []
    return dotsByGroup(canvas, series, {
      title: `Who pays, by ${NAMES[dimension]}`,
      note: "A group's part of the worst served 5 %, as a multiple of its part of all players: 1 is fair.",
      label: 'times its part',
      rule: 1,
      groups: names,
      of: (group, { index }) =>
        overSeeds(
          (variants[index]?.runs ?? []).map(({ figures: { fairness } }) => {
            const all = fairness.by[dimension].groups
            const own = Object.hasOwn(all, group) ? all[group] : undefined
            return own === undefined || own.ofAll === 0 ? undefined : own.ofWorst / own.ofAll
          }),
        ),
    })
  })
}
