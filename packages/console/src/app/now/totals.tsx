import type { ComponentChildren } from 'preact'
import { counted, grouped, sum } from '../../parts/index.js'
import type { Now } from '../../wire/index.js'
import { money, wait } from '../words.js'

/** The figures that one looks at first. */
export function Totals({ now: { queues, queuesLeftOut, forming, formingLeftOut, servers } }: { readonly now: Now }) {
  const oldest = Math.max(-1, ...queues.map((queue) => queue.oldest ?? -1))
  const paused = queues.filter((queue) => queue.paused).length
  const matches = forming.length + formingLeftOut
  const running = servers.byState.find(({ state }) => state === 'running')?.count ?? 0
  const all = sum(servers.byState.map(({ count }) => count))
  const spent = servers.money
  return (
    <dl class="totals" aria-label="Totals">
      <Total name="Players waiting" kind="waiting" note={oldest < 0 ? 'nobody waits' : `longest ${wait(oldest)}`}>
        {grouped(sum(queues.map(({ players }) => players)))}
      </Total>
      <Total name="Arrivals a minute" note={`tickets, in ${counted(queues.length + queuesLeftOut, 'queue')}`}>
        {grouped(Math.round(sum(queues.map(({ arrivalsPerMinute }) => arrivalsPerMinute))))}
      </Total>
      <Total name="Matches a minute" note={paused === 0 ? 'no queue is paused' : `${counted(paused, 'queue')} paused`}>
        {grouped(Math.round(sum(queues.map(({ matchesPerMinute }) => matchesPerMinute))))}
      </Total>
      <Total name="Matches forming" kind="forming" note="without a place to connect yet">
        {grouped(matches)}
      </Total>
      <Total name="Servers" kind="ready" note={`${grouped(running)} running`}>
        {grouped(all)}
        {servers.most === null ? null : <small> of {grouped(servers.most)}</small>}
      </Total>
      {spent === null ? (
        <Total name="Spending" note="set pricePerMinute to see it">
          <span class="unset">no price</span>
        </Total>
      ) : (
        <Total name="Spending an hour" note={`${money(spent.lastHour, spent.currency)} in the last hour`}>
          {money(spent.perHourNow, spent.currency)}
        </Total>
      )}
    </dl>
  )
}

interface TotalProps {
  readonly name: string
  readonly note: string
  readonly kind?: string
  readonly children: ComponentChildren
}

const Total = ({ name, note, kind = '', children }: TotalProps) => (
  <div class={`total ${kind}`}>
    <dt>{name}</dt>
    <dd>
      <b>{children}</b>
      <small>{note}</small>
    </dd>
  </div>
)
