import type { Expansion } from '../../figures/figures.js'
import type { LabResult, Variant } from '../../figures/lab-result.js'
import { quantity, type Unit } from '../../compare/quantities.js'
import { meanOf } from '../../statistics/paired.js'
import { shortened, type Html } from '../html.js'
import type { Series } from '../series.js'
import { RAMP_STEPS } from '../style.js'
import type { Canvas } from './canvas.js'

/** A part of a bar: players for whom a step of a limit was in force. */
interface Part {
  readonly variant: string
  readonly from: number
  readonly to: number
  readonly text: string
  /** From 1, the strictest colour. */
  readonly tone: number
}

/** Which limits were in force: a plot for each limit that relaxes in any variant. */
export function expansions(canvas: Canvas, { variants }: LabResult, series: readonly Series[]): Html[] {
  const limits = new Map<string, { readonly queue: string; readonly rule: string }>()
  for (const { runs } of variants)
    for (const [queue, { expansion }] of Object.entries(runs[0]?.figures.queues ?? {}))
      for (const { rule } of expansion) limits.set(JSON.stringify([queue, rule]), { queue, rule })
  const isOne = new Set([...limits.values()].map(({ queue }) => queue)).size === 1
  return [...limits.values()].map(({ queue, rule }) =>
    plot(canvas, isOne ? rule : `${rule} in ${queue}`, series, (one) => partsOf(variants[one.index], queue, rule, one)),
  )
}

function plot(canvas: Canvas, rule: string, series: readonly Series[], of: (one: Series) => readonly Part[]): Html {
  const { Plot } = canvas
  const parts = series.flatMap(of)
  const names = series.map(({ index }) => String(index))
  return canvas.figure({
    title: `In force: ${rule}`,
    note: 'Share of matched players for whom each value of the limit was in force, from the strictest to the loosest.',
    draw: (width) => {
      const labels = series.map(({ name }) => shortened(name, width < 400 ? 14 : 22))
      const longest = Math.max(4, ...labels.map((label) => [...label].length))
      const fits = (part: Part) => (part.to - part.from) * (width - longest * 6.6) > part.text.length * 640
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
              x: (one: Part) => (one.from + one.to) / 2,
              text: 'text',
              fill: `var(--on-ramp-${part.tone})`,
            }),
          ),
        ],
      }
    },
  })
}

function partsOf(variant: Variant | undefined, queue: string, rule: string, { index }: Series): readonly Part[] {
  const runs = (variant?.runs ?? []).flatMap(({ figures: { queues } }) => {
    const own = Object.hasOwn(queues, queue) ? queues[queue]?.expansion : undefined
    return own?.filter((one) => one.rule === rule) ?? []
  })
  const steps = runs[0]?.steps ?? []
  let from = 0
  return steps.map(({ limit }, step) => {
    const to = from + 100 * meanOf(runs.map((run) => run.steps[step]?.share ?? 0))
    const tone = steps.length === 1 ? 1 : 1 + Math.round((step / (steps.length - 1)) * (RAMP_STEPS - 1))
    const part = { variant: String(index), from, to, text: limitText(limit, runs[0]), tone }
    from = to
    return part
  })
}

const UNITS: Readonly<Record<string, Unit>> = { km: 'km', ms: 'roundTripMs' }

/** `60 ms`, `1,000 km`, `5`, `none`. */
function limitText(limit: number | null, expansion: Pick<Expansion, 'unit'> | undefined): string {
  if (limit === null) return 'none'
  return quantity(limit, UNITS[expansion?.unit ?? ''] ?? 'skill')
}
