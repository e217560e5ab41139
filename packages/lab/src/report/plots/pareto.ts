import type { Html } from '../html.js'
import type { Canvas } from './canvas.js'
import { fromZero, inSeconds } from './scales.js'

/** A schedule that was tried: how long players wait with it, and how badly they are matched. */
export interface TriedPoint {
  readonly waitP90Ms: number
  readonly cost: number
  /** Whether it keeps what was promised. */
  readonly keeps: boolean
  readonly is?: 'own' | 'best' | undefined
}

/** The Pareto front of wait and cost. @param promisedMs the promised wait, if there is one. */
export function pareto(canvas: Canvas, front: readonly TriedPoint[], promisedMs: number | undefined): Html {
  const { Plot } = canvas
  const seconds = inSeconds(Math.max(1, promisedMs ?? 0, ...front.map(({ waitP90Ms }) => waitP90Ms)) / 1000)
  const points = front
    .map((point) => ({ ...point, x: seconds.of(point.waitP90Ms / 1000), y: point.cost }))
    .toSorted((a, b) => a.x - b.x)
  const promised = promisedMs === undefined ? [] : [seconds.of(promisedMs / 1000)]
  const some = (is: TriedPoint['is']) => points.filter((point) => point.is === is)
  const named = points.filter(({ is }) => is !== undefined)
  return canvas.figure({
    title: 'What can be had: quality against waiting',
    note: 'Each mark is a schedule that no other betters in both; filled ones keep the promises. Lower left is better.',
    draw: (width) => ({
      height: width * 0.7,
      marginLeft: 52,
      marginTop: 44,
      x: {
        label: `90 % matched within (${seconds.unit}) →`,
        domain: fromZero([...points.map(({ x }) => x), ...promised]),
        ticks: Math.floor(width / 80),
      },
      y: { label: '↑ match cost', domain: fromZero(points.map(({ y }) => y)), grid: true, ticks: 5 },
      marks: [
        Plot.ruleX(promised, { stroke: 'var(--ink)', strokeDasharray: '5 4' }),
        Plot.text(promised, {
          x: (x: number) => x,
          frameAnchor: 'top',
          text: () => 'promised',
          dy: -12,
          fill: 'var(--ink)',
        }),
        Plot.lineY(
          points.filter(({ is }) => is !== 'own'),
          { x: 'x', y: 'y', stroke: 'var(--series-1)', curve: 'step-after' },
        ),
        Plot.dot(some(undefined), {
          x: 'x',
          y: 'y',
          r: 4,
          stroke: 'var(--series-1)',
          fill: (point: TriedPoint) => (point.keeps ? 'var(--series-1)' : 'var(--surface)'),
        }),
        Plot.dot(some('own'), { x: 'x', y: 'y', r: 6, symbol: 'square', fill: 'var(--series-2)' }),
        Plot.dot(some('best'), { x: 'x', y: 'y', r: 8, symbol: 'star', fill: 'var(--series-3)' }),
        Plot.text(named, {
          x: 'x',
          y: 'y',
          dx: 12,
          textAnchor: 'start',
          fill: 'var(--ink)',
          text: ({ is }: TriedPoint) => (is === 'own' ? 'as it is' : 'chosen'),
        }),
      ],
    }),
  })
}
