import { noQueueSeries, shownSpan, type Values } from '../series.js'
import { useStore } from '../store-context.js'
import { Plot, type PlotLine, type PlotProps } from '../plot.js'
import { hourAndMinute, short, timeOfDay, wait } from '../words.js'

/** Shows plots of the last hour of a queue. */
export function QueuePlots({ queue }: { readonly queue: string | undefined }) {
  const { series, serverTime, connection } = useStore()
  const known = series.value
  if (queue === undefined || known === undefined) return null
  const { players, arrivals, matches, waitP50, waitP95 } = known.queues.get(queue) ?? noQueueSeries
  const last = known.times.at(-1) ?? serverTime.peek()
  // While the server does not respond, the plot moves on, so that the gap is visible.
  const away = connection.value === 'live' ? 0 : Math.floor((serverTime.value - last) / known.step) * known.step
  const to = last + Math.max(0, away)
  const xs = seconds(known.times)
  const all = { xs, from: (to - shownSpan(known)) / 1000, to: to / 1000, spacings: MINUTES, sayX: sayTime }
  const plots: readonly Pick<PlotProps, 'title' | 'lines' | 'sayY' | 'leastTop'>[] = [
    {
      title: 'Players waiting',
      lines: [{ label: 'waiting', values: players, colour: '--starting', isFilled: true, isMeasured: true }],
      sayY: short,
      leastTop: 4,
    },
    {
      title: 'Waits of matched tickets',
      lines: [
        { label: 'p50', values: waitP50, colour: '--ready', isMeasured: true },
        { label: 'p95', values: waitP95, colour: '--forming', isDashed: true, isMeasured: true },
      ],
      sayY: wait,
      leastTop: 2000,
    },
    {
      title: 'Arrivals and matches a minute',
      lines: [
        { label: 'arrivals', values: arrivals, colour: '--starting', isMeasured: true },
        { label: 'matches', values: matches, colour: '--ready', isDashed: true, isMeasured: true },
      ],
      sayY: short,
      leastTop: 4,
    },
  ]
  return (
    <section aria-labelledby="hour">
      <h2 id="hour">
        {queue} <small>the last hour{known.missing.length === 0 ? '' : `: ${known.missing.join(' ')}`}</small>
      </h2>
      <div class="plots">
        {plots.map(({ title, lines, sayY, leastTop }) => (
          <Plot
            key={title}
            title={title}
            lines={lines}
            sayY={sayY}
            leastTop={leastTop}
            {...all}
            summary={`${title} in ${queue}: ${lines.map((line) => inWords(line, sayY)).join('; ')}.`}
          />
        ))}
      </div>
    </section>
  )
}

const MINUTES = [1, 2, 5, 10, 15, 20, 30, 60].map((minutes) => minutes * 60)
const sayTime = (x: number) => (Number.isInteger(x / 60) ? hourAndMinute(x * 1000) : timeOfDay(x * 1000))

/** Converts times to seconds. Returns the same array for the same times. */
const seconds = (() => {
  const made = new WeakMap<readonly number[], readonly number[]>()
  return (times: readonly number[]) => {
    const known = made.get(times) ?? times.map((time) => time / 1000)
    made.set(times, known)
    return known
  }
})()

function inWords({ label, values }: PlotLine, sayY: (y: number) => string): string {
  const known = (values as Values).filter((value) => value !== null)
  const last = known.at(-1)
  if (last === undefined) return `${label}: nothing yet`
  return `${label}: ${sayY(last)} at last, from ${sayY(Math.min(...known))} to ${sayY(Math.max(...known))}`
}
