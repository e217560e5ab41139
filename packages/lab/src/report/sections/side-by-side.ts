import { valuesOf, type Comparison } from '../../compare/compare.js'
import type { Difference, Verdict } from '../../compare/difference.js'
import { MEASURES, type Measure } from '../../compare/measures.js'
import { interval, quantity, signed, type Unit } from '../../compare/quantities.js'
import type { Figures } from '../../figures/figures.js'
import type { LabResult } from '../../figures/lab-result.js'
import { html, type Html } from '../html.js'
import { overSeeds } from '../means.js'
import type { Series } from '../series.js'
import { cell, key, row, table } from './parts.js'

/** All measures of all variants, with the differences to the first, their intervals, and what they say. */
export function sideBySide(result: LabResult, comparisons: readonly Comparison[], series: readonly Series[]): Html {
  const rows = MEASURES.flatMap((measure) => {
    const cells = result.variants.map((variant, index) => {
      const value = overSeeds(valuesOf(variant, measure))
      const compared = comparisons[index - 1]?.measures.find((one) => one.key === measure.key)
      if (value === undefined) return undefined
      return cell(
        quantity(value.mean, measure.unit),
        compared && differenceText(compared, measure.unit, compared.verdict),
      )
    })
    return cells.every((one) => one === undefined)
      ? []
      : [
          row(
            html`${measure.label} ${direction(measure)}`,
            cells.map((one) => one ?? cell('–')),
          ),
        ]
  })
  return table({
    caption: 'Side by side',
    note: noteOf(result),
    head: ['measure', ...series.map(key)],
    rows: [...rows, ...costRows(result)],
  })
}

const direction = ({ better }: Measure) => html`<small>${better} is better</small>`

function noteOf({ seeds, variants }: LabResult): string {
  if (variants.length < 2) return `Means over ${seeds.length} seeds.`
  if (seeds.length < 2) return 'One seed: differences may be chance, and no interval can be told.'
  return (
    `Means over ${seeds.length} seeds. Below: the difference to the first, and the interval that holds it with 95 % ` +
    'confidence, by paired bootstrap over the seeds. Better and worse are said where all hold together with 95 %.'
  )
}

const WORDS: Readonly<Record<Verdict, string>> = {
  better: 'better',
  worse: 'worse',
  alike: 'alike',
  unclear: 'cannot tell',
}

/** `−14 s`, `−15 to −13 s` below it, and what they say. */
export function differenceText(difference: Difference, unit: Unit, verdict?: Verdict): Html {
  const { mean, interval: sure } = difference
  const isSure = sure !== undefined && (sure.low > 0 || sure.high < 0)
  const chip = verdict && html` <span class="chip ${verdict}">${WORDS[verdict]}</span>`
  const range = sure && html`<small>${interval(sure.low, sure.high, unit)}</small>`
  return html`<small class="${isSure ? 'sure' : ''}">${signed(mean, unit)}${chip}</small>${range}`
}

/** What is told of each variant, but is neither good nor bad. */
function costRows({ variants }: LabResult): Html[] {
  const mean = (index: number, of: (figures: Figures) => number | undefined) =>
    overSeeds((variants[index]?.runs ?? []).map(({ figures }) => of(figures)))?.mean
  const told = (label: string, unit: Unit, of: (figures: Figures) => number | undefined): Html[] => {
    const values = variants.map((_, index) => mean(index, of))
    const currency = variants[0]?.runs[0]?.figures.servers.currency
    if (values.every((value) => value === undefined)) return []
    return [
      row(
        label,
        values.map((value) => cell(value === undefined ? '–' : quantity(value, unit, currency))),
      ),
    ]
  }
  return [
    ...told('players in tickets', 'count', ({ all }) => all.players),
    ...told('wait, 99 % within', 'ms', ({ all }) => (all.waitMs.count === 0 ? undefined : all.waitMs.p99)),
    ...told('gave up', 'share', ({ all }) => all.gaveUp),
    ...told('expired', 'share', ({ all }) => all.ends.expired),
    ...told('refused by the rules', 'share', ({ all }) => all.ends.refused),
    ...told('matches', 'count', ({ matches }) => matches.count),
    ...told('servers at most', 'count', ({ servers }) => servers.most),
    ...told('server hours', 'hours', ({ servers }) => servers.hours),
    ...told('cost of servers', 'money', ({ servers }) => servers.cost),
  ]
}
