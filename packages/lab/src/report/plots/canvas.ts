import type * as Plot from '@observablehq/plot'
import { html, trusted, type Html } from '../html.js'

/** What a plot is drawn with. */
export interface Canvas {
  readonly Plot: typeof Plot
  /** Draws a plot for wide windows and paper, and again for narrow windows, where texts would become too small. */
  figure(options: FigureOptions): Html
}

export interface FigureOptions {
  readonly title: string
  /** What is seen, and how to read it. */
  readonly note: string
  readonly draw: (width: number) => Plot.PlotOptions & { readonly marks: Plot.Markish[] }
}

/** Pixels. A wide plot takes half of a page. */
const WIDE = 540
const NARROW = 320

/** Room for the names of the axes beside the numbers. */
const MARGINS = { marginTop: 30, marginRight: 18, marginBottom: 42 } as const

/** Loads the library of plots, and a document for it: only when a report is written. */
export async function loadCanvas(): Promise<Canvas> {
  const [library, { parseHTML }] = await Promise.all([import('@observablehq/plot'), import('linkedom')])
  const { document } = parseHTML('<!doctype html><html><body></body></html>')
  const draw = ({ title, note, draw: optionsFor }: FigureOptions, width: number, kind: string): Html => {
    const svg = library.plot({ ...MARGINS, ...optionsFor(width), document, width, className: 'plot' })
    // Its own style sheet is part of the page's.
    for (const style of svg.querySelectorAll('style')) style.remove()
    // One picture with one description: its parts would be read as a heap of numbers.
    for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label')
    svg.setAttribute('class', `plot ${kind}`)
    svg.setAttribute('role', 'img')
    svg.setAttribute('aria-label', `${title}. ${note}`)
    return trusted(svg.outerHTML)
  }
  return {
    Plot: library,
    figure: (options) =>
      html`<figure>
        <figcaption>
          <strong>${options.title}</strong>
          <p>${options.note}</p>
        </figcaption>
        ${draw(options, WIDE, 'wide-plot')}${draw(options, NARROW, 'narrow')}
      </figure>`,
  }
}
