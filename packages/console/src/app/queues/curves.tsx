import { useMemo } from 'preact/hooks'
import type { Curve } from '../../wire.js'
import { Plot } from '../plot.js'
import { short, wait } from '../words.js'

interface CurveLine {
  /** Seconds of waiting. */
  readonly xs: readonly number[]
  readonly ys: readonly (number | null)[]
}

const SHORTEST_S = 10

/** Returns the right edge of the plots of a queue's limits in seconds, slightly after their last change. */
export function endOfCurves(curves: readonly Curve[]): number {
  const last = Math.max(0, ...curves.flatMap(({ points }) => points.map(({ after }) => after / 1000)))
  return Math.max(SHORTEST_S, Math.ceil((last * 1.25) / 5) * 5)
}

/** Returns the line of a curve. Steps are drawn as steps. A gap shows that the rule does not apply any more. */
export function curveLine({ shape, points }: Curve, end: number): CurveLine {
  const xs: number[] = []
  const ys: (number | null)[] = []
  const add = (x: number, y: number | null) => {
    xs.push(x)
    ys.push(y)
  }
  for (const [at, { after, limit }] of points.entries()) {
    const next = points[at + 1]
    add(after / 1000, limit)
    const holds = shape === 'steps' || next === undefined || next.limit === null
    if (limit !== null && holds) add(next === undefined ? end : next.after / 1000, limit)
  }
  return { xs, ys }
}

/** Returns the milliseconds of waiting after which a rule stops applying; undefined if it always applies. */
export const endOfRule = ({ points }: Curve): number | undefined =>
  points.at(-1)?.limit === null ? points.at(-1)?.after : undefined

/** Shows the limit of each rule over the waiting time of a ticket. */
export function Curves({ curves }: { readonly curves: readonly Curve[] }) {
  if (curves.length === 0) return <p class="none">No rule of this queue changes while a ticket waits.</p>
  const end = endOfCurves(curves)
  return (
    <div class="plots">
      {curves.map((curve) => (
        <CurvePlot key={`${curve.rule} ${curve.unit}`} curve={curve} end={end} />
      ))}
    </div>
  )
}

function CurvePlot({ curve, end }: { readonly curve: Curve; readonly end: number }) {
  const { xs, ys } = useMemo(() => curveLine(curve, end), [curve, end])
  const ended = endOfRule(curve)
  const say = (y: number) => (curve.unit === 'ms' ? `${short(y)} ms` : `${short(y)} ${curve.unit}`.trim())
  const said = curve.points.flatMap(({ limit }) => (limit === null ? [] : [say(limit)]))
  const follows = curve.adapts === true ? FOLLOWS : undefined
  const note = ended === undefined ? follows : `No longer counts after ${wait(ended)}.`
  return (
    <Plot
      title={curve.rule}
      xs={xs}
      from={0}
      to={end}
      lines={[{ label: 'limit', values: ys, colour: '--starting', isFilled: true, atRest: fewOf(said).join(' → ') }]}
      spacings={SECONDS}
      sayX={(x) => `${Math.round(x)} s`}
      sayY={say}
      leastTop={0.001}
      summary={`${curve.rule} by waiting time: ${inWords(curve, say)}.`}
      note={note}
    />
  )
}

const FOLLOWS = 'Follows how many players come: sooner where few do, later where many do.'

const SECONDS = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600]

/** Maximum number of values that a sentence lists. Of more values, only the first and the last are listed. */
const MOST_SAID = 4
const fewOf = <T,>(values: readonly T[]): readonly T[] =>
  values.length <= MOST_SAID ? values : values.filter((_, at) => at === 0 || at === values.length - 1)

const inWords = ({ points }: Curve, say: (y: number) => string) =>
  fewOf(points)
    .map(
      ({ after, limit }) =>
        `${limit === null ? 'no limit' : say(limit)} ${after === 0 ? 'at first' : `after ${wait(after)}`}`,
    )
    .join(', ')
