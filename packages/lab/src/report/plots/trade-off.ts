import type { LabResult } from '../../figures/lab-result.js'
import { MEASURES, type Measure } from '../../compare/measures.js'
import type { Html } from '../html.js'
import { meanOf } from '../../statistics/paired.js'
import type { Series } from '../series.js'
import type { Canvas } from './canvas.js'
import { fromZero, inSeconds } from './scales.js'

/** What quality costs in waiting: skill spread, or distance where no skill is known. Undefined if neither is. */
export function tradeOff(canvas: Canvas, { variants }: LabResult, series: readonly Series[]): Html | undefined {
  const [skill, distance, wait] = ['skill-spread', 'distance', 'wait-p90'].map(measureOf)
  const values = (measure: Measure | undefined) =>
    variants.map(({ runs }) => runs.map(({ figures }) => measure?.of(figures)))
  const quality = [skill, distance].find((measure) =>
    values(measure)
      .flat()
      .some((value) => value !== undefined),
  )
  if (quality === undefined) return undefined
  const [ys, xs] = [values(quality), values(wait)]
  const seconds = inSeconds(Math.max(1, ...xs.flat().map((ms) => (ms ?? 0) / 1000)))
  const points = series.map(({ index }) =>
    (xs[index] ?? []).flatMap((ms, run) => {
      const y = ys[index]?.[run]
      return ms === undefined || y === undefined ? [] : [{ x: seconds.of(ms / 1000), y }]
    }),
  )
  const all = points.flat()
  const { Plot } = canvas
  return canvas.figure({
    title: `${quality.label[0]?.toUpperCase()}${quality.label.slice(1)} against waiting`,
    note: 'Lower left is better: closer matches, sooner. Small marks are single seeds, large ones the mean.',
    draw: (width) => ({
      height: 44 + width * 0.56,
      marginLeft: 52,
      x: {
        label: `90 % matched within (${seconds.unit}) →`,
        domain: fromZero(all.map(({ x }) => x)),
        ticks: Math.floor(width / 80),
      },
      y: {
        label: `↑ ${quality.label}${quality.unit === 'km' ? ' (km)' : ''}`,
        domain: fromZero(all.map(({ y }) => y)),
        grid: true,
        ticks: 5,
      },
      marks: series.flatMap(({ index, colour, symbol }) => {
        const own = points[index] ?? []
        const mean = own.length === 0 ? [] : [{ x: meanOf(own.map(({ x }) => x)), y: meanOf(own.map(({ y }) => y)) }]
        return [
          Plot.dot(own, { x: 'x', y: 'y', fill: colour, fillOpacity: 0.5, symbol, r: 2.5 }),
          Plot.dot(mean, { x: 'x', y: 'y', stroke: colour, strokeWidth: 2, fill: 'var(--surface)', symbol, r: 7 }),
        ]
      }),
    }),
  })
}

const measureOf = (key: string) => MEASURES.find((measure) => measure.key === key)
