import type * as Plot from '@observablehq/plot'
import { html, type Html, shortened, trusted } from './page.js'
import type { OverSeeds, VariantSeries } from './series.js'

/** Draws the plots of a report. */
export interface Canvas {
  readonly Plot: typeof Plot
  /** Draws a plot twice: for wide windows and paper, and for narrow windows, where scaled text would be too small. */
  figure(options: FigureOptions): Html
}

interface FigureOptions {
  readonly title: string
  /** What the plot shows, and how to read it. */
  readonly note: string
  readonly draw: (width: number) => Plot.PlotOptions & { readonly marks: Plot.Markish[] }
}

/** Width of a plot in pixels, for wide and narrow windows. A wide plot takes half of a page. */
const WIDE = 540
const NARROW = 320

/** Margins in pixels, with room for the names of the axes beside the numbers. */
const MARGINS = { marginTop: 30, marginRight: 18, marginBottom: 42 } as const

/** Loads the plot library, and a document for it. Called only when a report is written, because loading takes time. */
export async function loadCanvas(): Promise<Canvas> {
  const [library, { parseHTML }] = await Promise.all([import('@observablehq/plot'), import('linkedom')])
  const { document } = parseHTML('<!doctype html><html><body></body></html>')
  const draw = ({ title, note, draw: optionsFor }: FigureOptions, width: number, kind: string): Html => {
    const svg = library.plot({ ...MARGINS, ...optionsFor(width), document, width, className: 'plot' })
    // Removes the plot's style sheet, because the page's style sheet contains its rules.
    for (const style of svg.querySelectorAll('style')) style.remove()
    // A plot gets one description as a whole. Otherwise screen readers would read its parts as many single numbers.
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

export const inPercent = ({ mean, low, high }: OverSeeds): OverSeeds => {
  return { mean: mean * 100, low: low * 100, high: high * 100 }
}

/**
 * Returns the curve of a variant, over a shaded range that spans the seeds. @param isMarked true: each point has the
 * variant's mark.
 */
export const curveMarks = (
  library: typeof Plot,
  { colour, dash, symbol }: VariantSeries,
  points: readonly (OverSeeds & { readonly x: number })[],
  isMarked: (point: number) => boolean = () => true,
): Plot.Markish[] => [
  library.areaY(points, { x: 'x', y1: 'low', y2: 'high', fill: colour, fillOpacity: 0.16 }),
  library.lineY(points, { x: 'x', y: 'mean', stroke: colour, strokeWidth: 2, strokeDasharray: dash ?? 'none' }),
  library.dot(
    points.filter((_, point) => isMarked(point)),
    { x: 'x', y: 'mean', fill: colour, symbol, r: 3.5 },
  ),
]

/** Returns how to show seconds: as they are, or as minutes if the maximum exceeds 300 s. */
export function inSeconds(most: number) {
  const [unit, seconds] = most > 300 ? (['min', 60] as const) : (['s', 1] as const)
  return { unit, most: most / seconds, of: (value: number) => value / seconds }
}

/** Returns a domain from 0 to slightly above the highest value. */
export const fromZero = (values: readonly number[]): [number, number] => [0, Math.max(1e-9, ...values) * 1.06]

interface GroupDots {
  readonly title: string
  readonly note: string
  /** The label of the axis, with its unit. */
  readonly label: string
  readonly groups: readonly string[]
  /** Returns the value of a variant in a group; undefined if it has none. */
  readonly of: (group: string, series: VariantSeries) => OverSeeds | undefined
  readonly domain?: readonly [number, number] | undefined
  /** Position of a reference line, e.g. a limit or the fair value. Default: no line. */
  readonly rule?: number | undefined
}

/** Pixels between the dots of two variants in a row. */
const APART = 9

/** Draws a row for each group. It has a dot for each variant, and a line that spans the seeds. */
export function dotsByGroup(canvas: Canvas, series: readonly VariantSeries[], dots: GroupDots): Html {
  const { Plot } = canvas
  const { groups, of, domain, rule } = dots
  const values = groups.flatMap((group) => series.flatMap((one) => of(group, one)?.high ?? []))
  return canvas.figure({
    title: dots.title,
    note: dots.note,
    draw: (width) => {
      const labelled = new Map(groups.map((group) => [group, shortened(group, width < 400 ? 15 : 24)]))
      const longest = Math.max(4, ...[...labelled.values()].map((label) => [...label].length))
      return {
        marginTop: 8,
        height: 54 + groups.length * (14 + APART * series.length),
        marginLeft: 14 + longest * 6.6,
        x: {
          label: `${dots.label} →`,
          domain: domain ?? [0, Math.max(rule ?? 0, ...values, 1e-9) * 1.06],
          grid: true,
          ticks: Math.floor(width / 100),
        },
        y: { label: null, domain: [...groups], tickFormat: (group: string) => labelled.get(group) ?? '', tickSize: 0 },
        marks: [
          ...(rule === undefined ? [] : [Plot.ruleX([rule], { stroke: 'var(--ink)', strokeOpacity: 0.6 })]),
          ...series.flatMap((one) => {
            const data = groups.flatMap((group) => {
              const value = of(group, one)
              return value === undefined ? [] : [{ group, ...value }]
            })
            const dy = (one.index - (series.length - 1) / 2) * APART
            return [
              Plot.ruleY(data, { y: 'group', x1: 'low', x2: 'high', stroke: one.colour, strokeWidth: 1.5, dy }),
              Plot.dot(data, { y: 'group', x: 'mean', fill: one.colour, symbol: one.symbol, r: 4, dy }),
            ]
          }),
        ],
      }
    },
  })
}
