import { slicesOf } from '../compare/index.js'
import { type LabResult, type Slice, type Variant, WAIT_POINTS_MS } from '../figures/index.js'
import { meanOf } from '../statistics/index.js'
import { type Html, RAMP_STEPS, shortened } from './page.js'
import { NOTHING, overSeeds, type OverSeeds, quantityIn, type VariantSeries } from './series.js'
import { type Canvas, curveMarks, inPercent, inSeconds } from './canvas.js'

/** Plots the share of players matched by waiting time. @param queue undefined for all queues together. */
export function waitCurve(
  canvas: Canvas,
  { variants }: LabResult,
  series: readonly VariantSeries[],
  queue?: string,
): Html {
  const curves = variants.map((variant) => curveOf(slices(variant, queue)))
  const last = lastPoint(curves)
  const { Plot } = canvas
  const seconds = inSeconds((WAIT_POINTS_MS[last] as number) / 1000)
  return canvas.figure({
    title: queue === undefined ? 'Matched by waiting time' : `Matched by waiting time in ${queue}`,
    note: 'Share of all players, those who gave up too, who had a match after so long. Shades span the seeds.',
    draw: (width) => ({
      height: 44 + width * 0.56,
      marginLeft: 44,
      x: { label: `waited (${seconds.unit}) →`, domain: [0, seconds.most], ticks: Math.floor(width / 80) },
      y: { label: '↑ matched (%)', domain: [0, 100], grid: true, ticks: 5 },
      marks: [
        Plot.ruleY([0]),
        ...series.flatMap((one) => {
          const data = (curves[one.index] ?? []).slice(0, last + 1).map((share, point) => {
            return { x: seconds.of((WAIT_POINTS_MS[point] as number) / 1000), ...inPercent(share) }
          })
          return curveMarks(Plot, one, data, (point) => point % 4 === 2 + (one.index % 2))
        }),
      ],
    }),
  })
}

const slices = (variant: Variant, queue: string | undefined): readonly (Slice | undefined)[] =>
  queue === undefined ? variant.runs.map(({ figures }) => figures.all) : slicesOf(variant, 'queue', queue)

const curveOf = (given: readonly (Slice | undefined)[]): OverSeeds[] =>
  WAIT_POINTS_MS.map((_, point) => overSeeds(given.map((slice) => slice?.waitCurve[point])) ?? NOTHING)

/** Returns the index of the first point after which hardly anybody is matched. */
function lastPoint(curves: readonly (readonly OverSeeds[])[]): number {
  const isOver = (point: number) =>
    curves.every((curve) => (curve.at(-1)?.mean ?? 0) - (curve[point]?.mean ?? 0) < 0.003)
  return Math.max(
    3,
    WAIT_POINTS_MS.findIndex((_, point) => isOver(point)),
  )
}

/** A part of a bar: the players for whom one step of a limit applied. */
interface BarPart {
  readonly variant: string
  readonly from: number
  readonly to: number
  readonly text: string
  /** Number of the colour from 1, which is the strictest step. */
  readonly tone: number
}

/**
 * Plots which values of a limit applied when players were matched. Each limit that relaxes in any variant has a plot.
 */
export function expansions(canvas: Canvas, { variants }: LabResult, series: readonly VariantSeries[]): Html[] {
  const limits = new Map<string, { readonly queue: string; readonly rule: string }>()
  for (const { runs } of variants)
    for (const [queue, { expansion }] of Object.entries(runs[0]?.figures.queues ?? {}))
      for (const { rule } of expansion) limits.set(JSON.stringify([queue, rule]), { queue, rule })
  const isOne = new Set([...limits.values()].map(({ queue }) => queue)).size === 1
  return [...limits.values()].map(({ queue, rule }) =>
    plot(canvas, isOne ? rule : `${rule} in ${queue}`, series, (one) => partsOf(variants[one.index], queue, rule, one)),
  )
}

function plot(
  canvas: Canvas,
  rule: string,
  series: readonly VariantSeries[],
  of: (one: VariantSeries) => readonly BarPart[],
): Html {
  const { Plot } = canvas
  const parts = series.flatMap(of)
  const names = series.map(({ index }) => String(index))
  return canvas.figure({
    title: `In force: ${rule}`,
    note: 'Share of matched players for whom each value of the limit was in force, from the strictest to the loosest.',
    draw: (width) => {
      const labels = series.map(({ name }) => shortened(name, width < 400 ? 14 : 22))
      const longest = Math.max(4, ...labels.map((label) => [...label].length))
      const fits = (part: BarPart) => (part.to - part.from) * (width - longest * 6.6) > part.text.length * 640
      return {
        marginTop: 8,
        height: 54 + series.length * 30,
        marginLeft: 14 + longest * 6.6,
        x: { label: 'matched players (%) →', domain: [0, 100], ticks: 5 },
        y: { label: null, domain: names, tickFormat: (index: string) => labels[Number(index)] ?? '', tickSize: 0 },
        marks: [
          ...parts.map(({ variant, from, to, tone }) =>
            Plot.barX([{ variant, from, to }], {
              y: 'variant',
              x1: 'from',
              x2: 'to',
              fill: `var(--ramp-${tone})`,
              stroke: 'var(--surface)',
              insetTop: 2,
              insetBottom: 2,
            }),
          ),
          ...parts.filter(fits).map((part) =>
            Plot.text([part], {
              y: 'variant',
              x: (one: BarPart) => (one.from + one.to) / 2,
              text: 'text',
              fill: `var(--on-ramp-${part.tone})`,
            }),
          ),
        ],
      }
    },
  })
}

function partsOf(
  variant: Variant | undefined,
  queue: string,
  rule: string,
  { index }: VariantSeries,
): readonly BarPart[] {
  const runs = (variant?.runs ?? []).flatMap(({ figures: { queues } }) => {
    const own = Object.hasOwn(queues, queue) ? queues[queue]?.expansion : undefined
    return own?.filter((one) => one.rule === rule) ?? []
  })
  const steps = runs[0]?.steps ?? []
  let from = 0
  return steps.map(({ limit }, step) => {
    const to = from + 100 * meanOf(runs.map((run) => run.steps[step]?.share ?? 0))
    const tone = steps.length === 1 ? 1 : 1 + Math.round((step / (steps.length - 1)) * (RAMP_STEPS - 1))
    const text = limit === null ? 'none' : quantityIn(runs[0]?.unit ?? '', limit)
    const part = { variant: String(index), from, to, text, tone }
    from = to
    return part
  })
}
