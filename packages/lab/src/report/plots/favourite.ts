import type { LabResult } from '../../figures/lab-result.js'
import type { Html } from '../html.js'
import { overSeeds } from '../means.js'
import type { Series } from '../series.js'
import type { Canvas } from './canvas.js'
import { fromZero } from './scales.js'

/** How even matches are. Undefined if no match has teams whose skill is known. */
export function favourite(canvas: Canvas, { variants }: LabResult, series: readonly Series[]): Html | undefined {
  const runsOf = ({ index }: Series) =>
    (variants[index]?.runs ?? []).flatMap(({ figures: { matches } }) =>
      matches.favourite.count === 0 ? [] : [matches],
    )
  const lines = series.map((one) => {
    const runs = runsOf(one)
    return Array.from({ length: runs[0]?.favouriteShares.length ?? 0 }, (_, step) => ({
      x: 52.5 + 5 * step,
      ...scaled(runs.map(({ favouriteShares }) => favouriteShares[step])),
    }))
  })
  if (lines.every((line) => line.length === 0)) return undefined
  const { Plot } = canvas
  return canvas.figure({
    title: 'How even matches are',
    note: 'Share of matches by how probably the stronger team wins: 50 % is even, 100 % is decided beforehand.',
    draw: (width) => ({
      height: 44 + width * 0.56,
      marginLeft: 44,
      x: { label: 'the stronger team wins (%) →', domain: [50, 100], ticks: [50, 60, 70, 80, 90, 100] },
      y: { label: '↑ matches (%)', domain: fromZero(lines.flat().map(({ high }) => high)), grid: true, ticks: 5 },
      marks: [
        Plot.ruleY([0]),
        ...series.flatMap(({ index, colour, dash, symbol }) => {
          const data = lines[index] ?? []
          return [
            Plot.areaY(data, { x: 'x', y1: 'low', y2: 'high', fill: colour, fillOpacity: 0.16 }),
            Plot.lineY(data, { x: 'x', y: 'mean', stroke: colour, strokeWidth: 2, strokeDasharray: dash ?? 'none' }),
            Plot.dot(data, { x: 'x', y: 'mean', fill: colour, symbol, r: 3.5 }),
          ]
        }),
      ],
    }),
  })
}

function scaled(values: readonly (number | undefined)[]) {
  const { mean, low, high } = overSeeds(values) ?? { mean: 0, low: 0, high: 0 }
  return { mean: mean * 100, low: low * 100, high: high * 100 }
}
