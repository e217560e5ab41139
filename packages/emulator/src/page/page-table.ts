// pure: sections and tables of the page
import { html, type Html } from './html.js'

/** A part of the page with a heading. */
export const section = (id: string, heading: string, content: Html, note?: string): Html =>
  html`<section id="${id}">
<h2><span id="${id}-heading">${heading}</span>${note === undefined ? undefined : html` <small>${note}</small>`}</h2>
${content}
</section>
`

export interface Column<Row> {
  readonly heading: string
  readonly cell: (row: Row) => Html | string | number
  /** Set for a column of numbers, which is aligned to the right. */
  readonly number?: true
}

export interface TableOptions<Row> {
  /** The text shown in place of a table without rows. */
  readonly none: string
  readonly keyOf?: (row: Row) => string
  /** Set if the table needs more width than a phone has, though it has few columns. */
  readonly wide?: true
}

/** The number of columns that fit on a phone. */
const FEW = 3

/**
 * The table of a section. A table that is too wide or too long scrolls by itself, by the keyboard too. The cells of the
 * first column are row headers. On a phone each row of a wide table is shown as a card with the headings in its cells;
 * ARIA roles keep it a table for screen readers.
 */
export function table<Row>(
  id: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
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

const numeric = (number: true | undefined) => (number ? html` class="number"` : undefined)
