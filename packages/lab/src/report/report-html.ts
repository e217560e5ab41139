import { compare } from '../compare/compare.js'
import { quantity } from '../compare/quantities.js'
import { groupsOf } from '../compare/slices.js'
import type { LabResult } from '../figures/lab-result.js'
import { ratingSentences } from '../ratings/rating-sentences.js'
import { html, type Html } from './html.js'
import { page } from './page.js'
import { loadCanvas } from './plots/canvas.js'
import { expansions } from './plots/expansion.js'
import { favourite } from './plots/favourite.js'
import { tradeOff } from './plots/trade-off.js'
import { waitCurve } from './plots/wait-curve.js'
import { worstServed } from './sections/fairness.js'
import { groups } from './sections/groups.js'
import { legend, plots, section } from './sections/parts.js'
import { possible } from './sections/possible.js'
import { readingHelp } from './sections/reading-help.js'
import { refusals } from './sections/refusals.js'
import { requests } from './sections/requests.js'
import { sideBySide } from './sections/side-by-side.js'
import { seriesOf } from './series.js'

/** A result as one HTML file that stands alone: it loads nothing and has no scripts. */
export async function reportHtml(result: LabResult): Promise<string> {
  const canvas = await loadCanvas()
  const series = seriesOf(result.variants.map(({ name }) => name))
  const comparisons = compare(result)
  const queues = groupsOf(result.variants, 'queue')
  const by = (dimension: 'queue' | 'region' | 'partySize' | 'skillBand') =>
    groups(canvas, result, comparisons, series, dimension)
  const curves =
    queues.length < 2 ? [] : queues.slice(0, MOST_CURVES).map((name) => waitCurve(canvas, result, series, name))
  const curvesAndQuality = [
    waitCurve(canvas, result, series),
    tradeOff(canvas, result, series),
    favourite(canvas, result, series),
    ...curves,
  ]
  const keys = result.variants.length < 2 ? undefined : legend(series)
  const served = [by('queue'), by('region'), by('skillBand'), by('partySize')].filter((one) => one !== undefined)
  const pays = worstServed(canvas, result, series)
  const body = [
    head(result),
    section(
      'short',
      'In short',
      sentences(comparisons),
      sideBySide(result, comparisons, series),
      refusals(result, series),
    ),
    section('waiting', 'Waiting and quality', keys, plots(curvesAndQuality)),
    section('served', 'Who is served how', ...(served.length === 0 ? [] : [keys, ...served])),
    section('pays', 'Who pays', ...(pays.length === 0 ? [] : [keys, plots(pays)])),
    section('expansion', 'How far limits opened', plots(expansions(canvas, result, series))),
    section('possible', 'What was possible', possible(result, series)),
    section('ratings', 'Ratings', listOf(ratingSentences(result))),
    section('requests', 'Requests', requests(canvas, result, series)),
    section('queues', 'The queues', queueWords(result)),
    section('help', 'How to read this', readingHelp()),
  ]
  return page(`Rule lab: ${result.variants.map(({ name }) => name).join(', ')}`, html`${body}`)
}

/** Queues that have a curve of their own. */
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

const sentences = (comparisons: ReturnType<typeof compare>): Html =>
  html`${comparisons.map(({ sentences: said }) => html`<p class="verdict">${said.join(' ')}</p>`)}`

/** Undefined for none. */
const listOf = (texts: readonly string[]): Html | undefined =>
  texts.length === 0
    ? undefined
    : html`<ul class="plain">
        ${texts.map((text) => html`<li>${text}</li>`)}
      </ul>`

const queueWords = ({ variants }: LabResult): Html =>
  html`${variants.map(({ name, queues }) =>
    queues.map((queue) => html`<h3>${name}: ${queue.name}</h3>${listOf(queue.sentences)}`),
  )}`
