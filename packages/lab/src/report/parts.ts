import { html, type Html } from './page.js'
import type { VariantSeries } from './series.js'

/** Draws the mark and the line of a variant, as in the plots. */
const swatch = ({ colour, dash, symbol }: VariantSeries): Html =>
  html`<svg viewBox="0 0 30 12" aria-hidden="true">
    <path d="M0 6H30" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash ?? 'none'}"></path>
    <path d="${SHAPES[symbol]}" fill="${colour}" transform="translate(15 6)"></path>
  </svg>`

const SHAPES: Readonly<Record<VariantSeries['symbol'], string>> = {
  circle: 'M-4 0A4 4 0 1 1 4 0A4 4 0 1 1 -4 0Z',
  square: 'M-4 -4H4V4H-4Z',
  triangle: 'M0 -5L5 4H-5Z',
  diamond: 'M0 -6L4 0L0 6L-4 0Z',
  star: 'M0 -6L1.5 -2H6L2.4 0.7L3.7 5L0 2.4L-3.7 5L-2.4 0.7L-6 -2H-1.5Z',
  cross: 'M-1.6 -5H1.6V-1.6H5V1.6H1.6V5H-1.6V1.6H-5V-1.6H-1.6Z',
}

/** Returns the name of a variant, with its mark. */
export const key = (series: VariantSeries): Html => html`<span class="key">${swatch(series)}${series.name}</span>`

export const legend = (series: readonly VariantSeries[]): Html =>
  html`<ul class="legend">
    ${series.map((one) => html`<li>${key(one)}</li>`)}
  </ul>`

interface Table {
  readonly caption: string
  readonly note?: string | undefined
  readonly head: readonly (Html | string)[]
  readonly rows: readonly Html[]
  readonly wide?: boolean | undefined
}

/** Creates a table. If it is too wide, it scrolls sideways, by keyboard too. */
export const table = ({ caption, note, head, rows, wide = true }: Table): Html =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table class="${wide ? 'wide' : ''}">
      <caption>
        ${caption}${note !== undefined && html`<p>${note}</p>`}
      </caption>
      <thead>
        <tr>
          ${head.map((one, at) => html`<th scope="col" class="${at === 0 ? 'name' : 'number'}">${one}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div> `

/** Creates a table row from its name and its cells. */
export const row = (name: Html | string, cells: readonly Html[], begins = false): Html =>
  html`<tr class="${begins ? 'begins' : ''}">
    <th scope="row" class="name">${name}</th>
    ${cells}
  </tr> `

/** Creates a table cell with a number, and further lines below the number. */
export const cell = (text: string, ...below: readonly (Html | undefined)[]): Html =>
  html`<td class="number">${text}${below}</td>`

/** Creates a table row of strings. */
export const textRow = (name: string, texts: readonly string[]): Html =>
  row(
    name,
    texts.map((text) => cell(text)),
  )

/** Creates a section with a heading. The result is empty if the section has no content. */
export const section = (id: string, heading: string, ...inside: readonly (Html | undefined)[]): Html => {
  const some = inside.filter((one) => one !== undefined && one.html.trim() !== '')
  return some.length === 0
    ? html``
    : html`<section aria-labelledby="${id}">
        <h2 id="${id}">${heading}</h2>
        ${some as Html[]}
      </section> `
}

export const plots = (figures: readonly (Html | undefined)[]): Html => {
  const some = figures.filter((one) => one !== undefined)
  return some.length === 0 ? html`` : html`<div class="plots">${some}</div>`
}

const TERMS: readonly (readonly [term: string, meaning: string])[] = [
  [
    'Matched, wait',
    "Players count once for each time they queue. A wait is from the ticket's creation until its match was " +
      'found, of those who were matched; curves count everybody, so that they end at the share matched.',
  ],
  [
    'To play',
    "From the ticket's creation until its server was assigned. A match that finds a warm server of its pool has " +
      'no boot to wait for. Servers are paid from create to stop: while they play, idle and boot.',
  ],
  [
    'Difference and interval',
    'All queues meet the same crowds, so the runs of one seed are a pair. An interval holds the difference ' +
      "with 95 % confidence, by bootstrap over the pairs, and is never narrower than Student's. A verdict asks " +
      'for more: all verdicts of a comparison are right together with 95 % (Bonferroni).',
  ],
  [
    'Chance of the stronger team',
    "By the model of openskill: one standard deviation of the crowd's true skill is 25/3 of its units, and " +
      'each player performs at it give or take 25/6. Matches with a single team have no such chance.',
  ],
  [
    'Latency',
    'Round trip to the beacon that is best for the match: of those that all of its players have measured, the ' +
      'one with the least worst latency.',
  ],
  ['Distance', "From each player to the middle of the match, along the earth's surface."],
  [
    'Who pays',
    'The worst served 5 % are those who gave up, expired, were refused or had too many failed servers; if ' +
      'they are fewer, those who waited longest, too. A queue is unfair to regions by 20 % if a fifth of the ' +
      'worst served would have to live elsewhere for every region to bear its part.',
  ],
  [
    'Limits in force',
    "Where each ticket has a limit of its own, that of the player's ticket when it was matched; otherwise " +
      'that of the match, by the wait that the rule names.',
  ],
]

export const readingHelp = (): Html =>
  html`<dl>
    ${TERMS.map(
      ([term, meaning]) =>
        html`<dt>${term}</dt>
          <dd>${meaning}</dd>`,
    )}
  </dl>`
