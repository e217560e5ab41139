import { compare, groupsOf, quantity } from '../compare/index.js'
import type { LabResult } from '../figures/index.js'
import { ratingSentences } from '../ratings/rating-book.js'
import { html, type Html, page } from './page.js'
import { type Canvas, dotsByGroup, loadCanvas } from './canvas.js'
import { favourite, pareto, tradeOff, type TriedPoint } from './comparison-plots.js'
import { expansions, waitCurve } from './wait-plots.js'
import { groups, worstServed } from './groups.js'
import { cell, key, legend, plots, readingHelp, row, section, table, textRow } from './parts.js'
import { poolTables } from './pools.js'
import { possible, sideBySide } from './side-by-side.js'
import { meanRefusals, overSeeds, type VariantSeries, seriesOf } from './series.js'

/** Returns a result as one self-contained HTML file, which loads nothing and has no scripts. */
export async function reportHtml(result: LabResult): Promise<string> {
  const canvas = await loadCanvas()
  const series = seriesOf(result.variants.map(({ name }) => name))
  const comparisons = compare(result)
  const queues = groupsOf(result.variants, 'queue')
  const by = (dimension: 'queue' | 'region' | 'partySize' | 'skillBand') =>
    groups(canvas, result, comparisons, series, dimension)
  const ofQueues = queues.length < 2 ? [] : queues.slice(0, MOST_CURVES)
  const curvesAndQuality = [
    waitCurve(canvas, result, series),
    tradeOff(canvas, result, series),
    favourite(canvas, result, series),
    ...ofQueues.map((name) => waitCurve(canvas, result, series, name)),
  ]
  const keys = result.variants.length < 2 ? undefined : legend(series)
  const served = [by('queue'), by('region'), by('skillBand'), by('partySize')].filter((one) => one !== undefined)
  const pays = worstServed(canvas, result, series)
  const said = html`${comparisons.map(({ sentences }) => html`<p class="verdict">${sentences.join(' ')}</p>`)}`
  const body = [
    head(result),
    section('short', 'In short', said, sideBySide(result, comparisons, series), refusals(result, series)),
    section('waiting', 'Waiting and quality', keys, plots(curvesAndQuality)),
    section('served', 'Who is served how', ...(served.length === 0 ? [] : [keys, ...served])),
    section('pays', 'Who pays', ...(pays.length === 0 ? [] : [keys, plots(pays)])),
    section('expansion', 'How far limits opened', plots(expansions(canvas, result, series))),
    section('pools', 'Pools', ...poolTables(result, series)),
    section('possible', 'What was possible', possible(result, series)),
    section('ratings', 'Ratings', listOf(ratingSentences(result))),
    section('requests', 'Requests', requests(canvas, result, series)),
    section('queues', 'The queues', queueWords(result)),
    section('help', 'How to read this', readingHelp()),
  ]
  return page(`Rule lab: ${result.variants.map(({ name }) => name).join(', ')}`, html`${body}`)
}

/** Maximum number of queues that have their own curve. */
const MOST_CURVES = 12

function head({ crowd, seeds, variants }: LabResult): Html {
  const fact = (value: string, words: string) => html`<li><b>${value}</b> ${words}</li>`
  return html`<header>
    <h1>${variants.length === 1 ? 'What a queue does' : 'Queues side by side'}</h1>
    <ul class="facts">
      ${fact(crowd.name, '')}${fact(quantity(crowd.players, 'count'), 'players')}
      ${fact(quantity(crowd.parties, 'count'), 'parties')}
      ${fact(quantity(crowd.durationMs, 'ms'), 'of arrivals')}
      ${fact(String(seeds.length), seeds.length === 1 ? `seed (${seeds[0]})` : `seeds (${seeds.join(', ')})`)}
    </ul>
  </header>`
}

/** Returns a list of texts; undefined if there are none. */
const listOf = (texts: readonly string[]): Html | undefined =>
  texts.length === 0
    ? undefined
    : html`<ul class="plain">
        ${texts.map((text) => html`<li>${text}</li>`)}
      </ul>`

const queueWords = ({ variants }: LabResult): Html =>
  html`${variants.map(({ name, queues, pools }) => [
    ...queues.map((queue) => html`<h3>${name}: ${queue.name}</h3>${listOf(queue.sentences)}`),
    ...pools.map((pool) => html`<h3>${name}: pool ${pool.name}</h3>${listOf(pool.sentences)}`),
  ])}`

/** Shows the requests to the deployment service, compared with its limits. */
function requests(canvas: Canvas, { variants }: LabResult, series: readonly VariantSeries[]): Html | undefined {
  const runs = variants.flatMap((variant) => variant.runs.map(({ figures }) => figures.requests))
  const operations = [...new Set(runs.flatMap((one) => Object.keys(one)))]
  if (operations.length === 0) return undefined
  const usesOf = (operation: string, { index }: VariantSeries) =>
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

/** Returns a table of the reasons why players were refused, by variant; undefined if none was refused. */
function refusals({ variants }: LabResult, series: readonly VariantSeries[]): Html | undefined {
  const shares = variants.map((variant) => new Map(meanRefusals(variant).map(({ why, share }) => [why, share])))
  const reasons = [...new Set(shares.flatMap((of) => [...of.keys()]))]
  if (reasons.length === 0) return undefined
  return table({
    caption: 'Why players were refused',
    note: 'Shares of all players in tickets.',
    head: ['reason', ...series.map(key)],
    rows: reasons.map((why) => {
      const texts = shares.map((of) => quantity(of.get(why) ?? 0, 'share'))
      return textRow(why, texts)
    }),
  })
}

export interface FrontPage {
  readonly title: string
  /** What was searched and what was found, one statement in each sentence. */
  readonly sentences: readonly string[]
  readonly front: readonly TriedPoint[]
  /** Promised 90th percentile of the wait, in milliseconds. */
  readonly promisedMs?: number | undefined
  /** The change to the queues' file, as a patch. */
  readonly patch?: string | undefined
}

/** Returns a page with the result of a search for better schedules, in the style of a report. */
export async function frontHtml({ title, sentences, front, promisedMs, patch }: FrontPage): Promise<string> {
  const canvas = await loadCanvas()
  const body = html`<header><h1>${title}</h1></header>
    <section>
      ${sentences.map((sentence) => html`<p class="verdict">${sentence}</p>`)} ${pareto(canvas, front, promisedMs)}
    </section>
    ${
      patch !== undefined &&
      html`<section aria-labelledby="patch">
        <h2 id="patch">The change</h2>
        <div class="scroll" tabindex="0" role="region" aria-label="The change">
          <pre>${patch.split('\n').map((line) => html`${line}\n`)}</pre>
        </div>
      </section>`
    }`
  return page(title, body)
}
