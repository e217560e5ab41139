// pure: sections of the page, and tables in them
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
  /** Numbers are set to the right. */
  readonly number?: true
}

/**
 * The table of a section. It scrolls by itself where it is too wide or too long, by the keyboard too.
 * The first column's cells head their rows.
 */
export function table<Row>(
  id: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { none, keyOf }: { readonly none: string; readonly keyOf?: (row: Row) => string },
): Html {
  if (rows.length === 0) return html`<p class="none">${none}</p>`
  return html`<div class="scroll" tabindex="0" role="region" aria-labelledby="${id}-heading"><table aria-labelledby="${id}-heading">
<thead><tr>${columns.map(({ heading, number }) => html`<th scope="col"${numeric(number)}>${heading}</th>`)}</tr></thead>
<tbody>${rows.map(
    (row) => html`
<tr${keyOf === undefined ? undefined : html` id="${id}-${keyOf(row)}"`}>${columns.map(({ cell, number }, at) =>
      at === 0
        ? html`<th scope="row"${numeric(number)}>${cell(row)}</th>`
        : html`<td${numeric(number)}>${cell(row)}</td>`,
    )}</tr>`,
  )}
</tbody></table></div>`
}

const numeric = (number: true | undefined) => (number ? html` class="number"` : undefined)
