import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import type { Values } from './series.js'
import { useStore } from './store-context.js'

export interface PlotLine {
  readonly label: string
  readonly values: Values
  /** Name of the CSS custom property with the line's colour. */
  readonly colour: string
  readonly isDashed?: true
  readonly isFilled?: true
  /**
   * True for measured values. If there are only a few, they are shown as points, because a line between them would be
   * too short to see.
   */
  readonly isMeasured?: true
  /** The text that is shown while the pointer is not on the plot. Default: the last value. */
  readonly atRest?: string
}

export interface PlotProps {
  readonly title: string
  /** The times of the values in seconds, in ascending order. */
  readonly xs: readonly number[]
  readonly from: number
  readonly to: number
  readonly lines: readonly PlotLine[]
  /** The intervals of which one is chosen for the labels below the plot, in seconds. */
  readonly spacings: readonly number[]
  readonly sayX: (x: number) => string
  readonly sayY: (y: number) => string
  /** Minimum value at the top edge of the plot. It prevents small values from looking large. */
  readonly leastTop: number
  /** A summary of the whole plot in one sentence. */
  readonly summary: string
  readonly note?: string | undefined
}

const HEIGHT = 150
const FEW = 8
const FONT = '11px system-ui, sans-serif'

const colourOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name)

/**
 * Draws a plot over time with uPlot. Above it, the values under the cursor, or else the last values, are shown as text.
 */
export function Plot(props: PlotProps) {
  const { scheme } = useStore()
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const [at, setAt] = useState<number | null>(null)
  const isDark = scheme.isDark.value

  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const made = new uPlot(optionsOf(latest, element.clientWidth, setAt), dataOf(latest.current), element)
    plot.current = made
    const watcher = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }))
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      made.destroy()
    }
    // A change of the lines needs a new plot. Otherwise only the data is updated.
  }, [props.lines.map(({ label }) => label).join()])

  const drawn = useRef<readonly unknown[]>([])
  useEffect(() => {
    const now = [props.xs, props.from, props.to, isDark, ...props.lines.map(({ values }) => values)]
    const isSame = now.length === drawn.current.length && now.every((part, index) => part === drawn.current[index])
    drawn.current = now
    if (!isSame) plot.current?.setData(dataOf(props))
  })

  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">{props.title}</span>
        <span class="plot-legend" aria-hidden="true">
          {props.lines.map((line) => (
            <span key={line.label}>
              <i class={`swatch ${line.isDashed ? 'dashed' : ''}`} style={{ color: `var(${line.colour})` }} />
              {line.label} <b>{said(line, at, props.sayY)}</b>
            </span>
          ))}
          {at === null ? null : <span class="plot-at">{props.sayX(props.xs[at] ?? 0)}</span>}
        </span>
      </figcaption>
      <div class="plot-area" ref={place} role="img" aria-label={props.summary} />
      {props.note === undefined ? null : <p class="plot-note">{props.note}</p>}
    </figure>
  )
}

function said({ values, atRest }: PlotLine, at: number | null, sayY: (y: number) => string): string {
  if (at === null && atRest !== undefined) return atRest
  const value = at === null ? values.at(-1) : values[at]
  return value === null || value === undefined ? '–' : sayY(value)
}

const dataOf = ({ xs, lines }: PlotProps) => [xs, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData

const countOf = (values: ArrayLike<number | null | undefined> | undefined) =>
  Array.from(values ?? []).filter((value) => value !== null && value !== undefined).length

function optionsOf(
  latest: { readonly current: PlotProps },
  width: number,
  setAt: (at: number | null) => void,
): uPlot.Options {
  const axis = { stroke: () => colourOf('--quiet'), font: FONT, ticks: { show: false }, gap: 6 }
  const grid = { stroke: () => colourOf('--line'), width: 1 }
  return {
    width,
    height: HEIGHT,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false, setScale: false }, points: { size: 7 } },
    scales: {
      x: { time: false, range: () => [latest.current.from, latest.current.to] },
      y: { range: (_plot, _least, most) => [0, Math.max(latest.current.leastTop, (most ?? 0) * 1.12)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 60,
        size: 26,
        incrs: [...latest.current.spacings],
        values: (_plot, at) => at.map(latest.current.sayX),
      },
      { ...axis, grid, space: 36, size: 54, values: (_plot, at) => at.map(latest.current.sayY) },
    ],
    series: [
      {},
      ...latest.current.lines.map(({ label, colour, isDashed, isFilled, isMeasured }) => ({
        label,
        stroke: () => colourOf(colour),
        width: 1.75,
        points: { size: 5, show: (plot: uPlot, at: number) => isMeasured === true && countOf(plot.data[at]) <= FEW },
        ...(isDashed ? { dash: [5, 4] } : {}),
        ...(isFilled ? { fill: () => `${colourOf(colour)}22` } : {}),
      })),
    ],
    hooks: { setCursor: [({ cursor: { idx } }) => setAt(idx ?? null)] },
  }
}
