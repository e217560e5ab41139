import { useComputed } from '@preact/signals'
import { grouped, sum } from '../../parts/index.js'
import type { Now, QueueNow, RelaxedStep } from '../../wire.js'
import { hrefOf, type Route } from '../routes.js'
import { shownSpan, type Values } from '../series.js'
import { useStore } from '../store-context.js'
import { countOrDash, percent, wait } from '../words.js'
import { Cell, number, TableHead } from '../elements.js'

/** Shows how many tickets there are at each step of relaxation. A darker colour means a later step. */
function RelaxedBar({ steps }: { readonly steps: readonly RelaxedStep[] }) {
  const all = sum(steps.map(({ tickets }) => tickets))
  const [strict] = steps
  if (all === 0 || strict === undefined) return <span class="none">–</span>
  const text = steps
    .filter(({ tickets }) => tickets > 0)
    .map(({ after, tickets }) => `${grouped(tickets)} ${after === 0 ? 'strictest' : `after ${wait(after)}`}`)
    .join(', ')
  const given = 1 - (strict.after === 0 ? strict.tickets : 0) / all
  let before = 0
  return (
    <span class="relaxed">
      <svg class="relaxed-bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label={text}>
        <title>{text}</title>
        {steps.map(({ after, tickets }, at) => {
          const x = (before / all) * 1000
          before += tickets
          const depth = steps.length === 1 ? 0 : at / (steps.length - 1)
          return (
            <rect key={after} x={x} width={(tickets / all) * 1000} height="10" fill-opacity={0.22 + 0.78 * depth} />
          )
        })}
      </svg>
      <span class="number">{percent(given)}</span>
    </span>
  )
}

/** Returns the queue that the page's address names, or else the first one. */
export const shownQueue = ({ queues }: Now, route: Route): QueueNow | undefined =>
  queues.find(({ name }) => route.view === 'now' && name === route.queue) ?? queues[0]

/**
 * Returns the path data of an SVG for values at equal steps, from 0 at the bottom to `most` at the top. Unknown values
 * are gaps. The last value is at the right edge, so a short history leaves the left side empty.
 */
export function sparkPath(values: Values, steps: number, width: number, height: number, most: number): string {
  const shown = values.slice(-steps)
  const first = steps - shown.length
  let path = ''
  let isOpen = false
  for (const [at, value] of shown.entries()) {
    if (value === null) {
      isOpen = false
      continue
    }
    const x = rounded(((first + at) / Math.max(1, steps - 1)) * width)
    const y = rounded(height - (most <= 0 ? 0 : (value / most) * height))
    path += isOpen ? `L${x} ${y}` : `M${x} ${y}h0`
    isOpen = true
  }
  return path
}

const rounded = (value: number) => Math.round(value * 10) / 10

const [WIDTH, HEIGHT] = [140, 24]

/** Shows how many players waited in a queue during the last hour. The plots below the table show the numbers. */
function Spark({ queue }: { readonly queue: string }) {
  const { series } = useStore()
  const path = useComputed(() => {
    const values = series.value?.queues.get(queue)?.players ?? []
    const most = Math.max(0, ...values.map((value) => value ?? 0))
    return sparkPath(
      values,
      series.value === undefined ? 1 : Math.ceil(shownSpan(series.value) / series.value.step),
      WIDTH,
      HEIGHT - 4,
      most,
    )
  })
  return (
    <svg class="spark" viewBox={`0 -2 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <path d={path} />
    </svg>
  )
}

/** Shows a table with a row for each queue. */
export function QueueTable({ now }: { readonly now: Now }) {
  const { route } = useStore()
  const shown = shownQueue(now, route.value)
  return (
    <section aria-labelledby="queues">
      <h2 id="queues">
        Queues{' '}
        {now.queuesLeftOut === 0 ? null : <small>and {grouped(now.queuesLeftOut)} more that are not shown</small>}
      </h2>
      {now.queues.length === 0 ? (
        <p class="none">The configuration has no queue, so nobody can play.</p>
      ) : (
        <table class="cards queue-table">
          <caption class="hidden">Queues at this moment; waits of the last hour</caption>
          <TableHead
            columns={[
              'Queue',
              { text: 'Waiting, last hour', kind: 'spark-head' },
              number('Waiting'),
              number('Arrivals a minute'),
              number('Matches a minute'),
              number('Wait p50'),
              number('Wait p95'),
              number('Oldest'),
              { text: 'Rules relaxed', kind: 'relaxed-head' },
            ]}
          />
          <tbody>
            {now.queues.map((queue) => (
              <QueueRow key={queue.name} queue={queue} isShown={queue.name === shown?.name} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function QueueRow({ queue, isShown }: { readonly queue: QueueNow; readonly isShown: boolean }) {
  const { name, paused, players, arrivalsPerMinute, matchesPerMinute, waitP50, waitP95, oldest, relaxed } = queue
  return (
    <tr class={isShown ? 'shown' : ''}>
      <th scope="row">
        <a href={hrefOf('now', name)} aria-current={isShown ? 'true' : undefined}>
          {name}
        </a>
        {paused ? <span class="status paused">paused</span> : null}
      </th>
      <td class="spark-cell">
        <Spark queue={name} />
      </td>
      <Cell head="Waiting">{grouped(players)}</Cell>
      <Cell head="Arrivals a minute">{countOrDash(arrivalsPerMinute)}</Cell>
      <Cell head="Matches a minute">{countOrDash(matchesPerMinute)}</Cell>
      <Cell head="Wait p50">{wait(waitP50)}</Cell>
      <Cell head="Wait p95">{wait(waitP95)}</Cell>
      <Cell head="Oldest">{wait(oldest)}</Cell>
      <Cell kind="relaxed-cell" head="Rules relaxed">
        <RelaxedBar steps={relaxed} />
      </Cell>
    </tr>
  )
}
