import { grouped } from '../../parts/index.js'
import type { Now, QueueNow } from '../../wire/index.js'
import { hrefOf } from '../routes.js'
import { useStore } from '../state/store-context.js'
import { wait } from '../words.js'
import { RelaxedBar } from './relaxed-bar.js'
import { shownQueue } from './shown-queue.js'
import { Spark } from './spark.js'

/** Every queue in one line. */
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
          <thead>
            <tr>
              <th scope="col">Queue</th>
              <th scope="col" class="spark-head">
                Waiting, last hour
              </th>
              <th scope="col" class="number">
                Waiting
              </th>
              <th scope="col" class="number">
                Arrivals a minute
              </th>
              <th scope="col" class="number">
                Matches a minute
              </th>
              <th scope="col" class="number">
                Wait p50
              </th>
              <th scope="col" class="number">
                Wait p95
              </th>
              <th scope="col" class="number">
                Oldest
              </th>
              <th scope="col" class="relaxed-head">
                Rules given way
              </th>
            </tr>
          </thead>
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
      <td class="number" data-heading="Waiting">
        {grouped(players)}
      </td>
      <td class="number" data-heading="Arrivals a minute">
        {grouped(Math.round(arrivalsPerMinute))}
      </td>
      <td class="number" data-heading="Matches a minute">
        {grouped(Math.round(matchesPerMinute))}
      </td>
      <td class="number" data-heading="Wait p50">
        {wait(waitP50)}
      </td>
      <td class="number" data-heading="Wait p95">
        {wait(waitP95)}
      </td>
      <td class="number" data-heading="Oldest">
        {wait(oldest)}
      </td>
      <td class="relaxed-cell" data-heading="Rules given way">
        <RelaxedBar steps={relaxed} />
      </td>
    </tr>
  )
}
