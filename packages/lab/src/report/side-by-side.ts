import {
  type Comparison,
  valuesOf,
  type Difference,
  type Verdict,
  interval,
  MEASURES,
  quantity,
  signed,
  type Unit,
} from '../compare/index.js'
import type { LabResult, Possible } from '../figures/index.js'
import { html, type Html } from './page.js'
import { overSeeds, plainTexts, quantityIn, type VariantSeries } from './series.js'
import { cell, key, row, table, textRow } from './parts.js'

/**
 * Returns a table of all measures of all variants, with the differences from the first variant, their intervals, and
 * the verdicts.
 */
export function sideBySide(
  result: LabResult,
  comparisons: readonly Comparison[],
  series: readonly VariantSeries[],
): Html {
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
    if (cells.every((one) => one === undefined)) return []
    const name = html`${measure.label} <small>${measure.better} is better</small>`
    return row(
      name,
      cells.map((one) => one ?? cell('–')),
    )
  })
  return table({
    caption: 'Side by side',
    note: noteOf(result),
    head: ['measure', ...series.map(key)],
    rows: [...rows, ...plainTexts(result.variants, 'page').map(({ label, texts }) => textRow(label, texts))],
  })
}

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

/** Shows a difference like `−14 s`, with its interval `−15 to −13 s` below it, and the verdict. */
export function differenceText(difference: Difference, unit: Unit, verdict?: Verdict): Html {
  const { mean, interval: sure } = difference
  const isSure = sure !== undefined && (sure.low > 0 || sure.high < 0)
  const chip = verdict && html` <span class="chip ${verdict}">${WORDS[verdict]}</span>`
  const range = sure && html`<small>${interval(sure.low, sure.high, unit)}</small>`
  return html`<small class="${isSure ? 'sure' : ''}">${signed(mean, unit)}${chip}</small>${range}`
}

/** Returns a table of the actual cost compared with the minimum; undefined if no run has the minimum. */
export function possible({ variants }: LabResult, series: readonly VariantSeries[]): Html | undefined {
  const rows = series.flatMap((one) => {
    const runs = (variants[one.index]?.runs ?? []).map((run) => run.possible ?? [])
    const kinds = new Map(runs.flat().map((bound) => [idOf(bound), bound]))
    return [...kinds].map(([id, { queue, what, unit, kind }]) => {
      const own = runs.map((run) => run.find((bound) => idOf(bound) === id))
      const mean = (of: 'reached' | 'possible') => overSeeds(own.map((bound) => bound?.[of]))?.mean ?? 0
      const [reached, least] = [mean('reached'), mean('possible')]
      const times = reached / least
      return row(html`${key(one)}<small>${queue}: ${what}</small>`, [
        cell(quantityIn(unit, reached)),
        cell(quantityIn(unit, least), html`<small>${kind}</small>`),
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
