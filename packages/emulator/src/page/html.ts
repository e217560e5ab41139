// pure: escaped markup; sections and tables of the page; the frame that all pages share
import { pageScript } from './page-script.js'
import { pageStyle } from './page-style.js'

/** Markup that is safe to send. Only `html` and `markup` create it. */
export interface Html {
  readonly markup: string
}

type Piece = string | number | Html | readonly Html[] | undefined

/**
 * Creates markup from a template. Strings and numbers are escaped for text, and for attributes in double quotes.
 * Undefined inserts nothing.
 */
export const html = (template: TemplateStringsArray, ...pieces: readonly Piece[]): Html => ({
  markup: template.map((text, at) => text + written(pieces[at])).join(''),
})

/** Creates markup from a trusted string, which is not escaped. */
export const markup = (text: string): Html => ({ markup: text })

function written(piece: Piece): string {
  if (piece === undefined) return ''
  if (typeof piece === 'string' || typeof piece === 'number') return String(piece).replaceAll(/[&<>"']/g, escaped)
  return 'markup' in piece ? piece.markup : piece.map((each) => each.markup).join('')
}

const escaped = (character: string) => `&#${character.charCodeAt(0)};`

/** Creates a part of the page with a heading. */
export const section = (id: string, heading: string, content: Html, note?: string): Html =>
  html`<section id="${id}">
<h2><span id="${id}-heading">${heading}</span>${note === undefined ? undefined : html` <small>${note}</small>`}</h2>
${content}
</section>
`

export interface TableColumn<Row> {
  readonly heading: string
  readonly cell: (row: Row) => Html | string | number
  /** Set for a column of numbers, which is right-aligned. */
  readonly number?: true
}

interface TableOptions<Row> {
  /** The text shown instead of an empty table. */
  readonly none: string
  readonly keyOf?: (row: Row) => string
  /** Set if the table needs more width than a phone has, despite few columns. */
  readonly wide?: true
}

/** Maximum number of columns that fit on a phone. */
const FEW = 3

/**
 * Creates the table of a section. A table that is too wide or too long scrolls separately, by keyboard too. The cells
 * of the first column are row headers. On a phone each row of a wide table is shown as a card, with the headings in its
 * cells. ARIA roles keep it a table for screen readers.
 */
export function table<Row>(
  id: string,
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  { none, keyOf, wide }: TableOptions<Row>,
): Html {
  if (rows.length === 0) return html`<p class="none">${none}</p>`
  const asCards = columns.length > FEW || wide === true ? html` class="cards"` : undefined
  return html`<div class="scroll" tabindex="0" role="region" aria-labelledby="${id}-heading">
<table role="table"${asCards} aria-labelledby="${id}-heading">
<thead role="rowgroup"><tr role="row">${columns.map(
    ({ heading, number }) => html`<th role="columnheader" scope="col"${numeric(number)}>${heading}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">${rows.map(
    (row) => html`
<tr role="row"${keyOf === undefined ? undefined : html` id="${id}-${keyOf(row)}"`}>${columns.map(
      ({ heading, cell, number }, at) =>
        at === 0
          ? html`<th role="rowheader" scope="row"${numeric(number)}>${cell(row)}</th>`
          : html`<td role="cell" data-heading="${heading}"${numeric(number)}>${cell(row)}</td>`,
    )}</tr>`,
  )}
</tbody></table></div>`
}

/** Creates a section that consists of one table. */
export const tableSection = <Row>(
  id: string,
  heading: string,
  rows: readonly Row[],
  { note, ...options }: TableOptions<Row> & { readonly note?: string },
  columns: readonly TableColumn<Row>[],
): Html => section(id, heading, table(id, rows, columns, options), note)

const numeric = (number: true | undefined) => (number ? html` class="number"` : undefined)

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">' +
    '<circle cx="8" cy="8" r="7" fill="#0b8a66"/><circle cx="8" cy="8" r="3" fill="#fff"/></svg>',
)}`

/**
 * Creates a whole page. Its script fetches the page again each second. Without scripts the browser reloads the page.
 * @param live the content that changes.
 */
export function pageShell(title: string, live: Html): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style>${markup(pageStyle)}</style>
<noscript><meta http-equiv="refresh" content="3"></noscript>
</head>
<body>
<p id="alarm" role="alert" hidden></p>
<header>
<h1><a href="/_emulator">Muster emulator</a></h1>
<p class="follow">
<span id="following" role="status">As it was when the page was loaded</span>
<button id="pause" type="button" aria-pressed="false" hidden>Pause</button>
<a href="/_emulator/state">State as JSON</a>
</p>
</header>
<main id="live">
${live}</main>
<script>${markup(pageScript)}</script>
</body>
</html>
`
  return page.markup
}
