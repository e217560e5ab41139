import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { counted, grouped, sum } from '../../parts/index.js'
import type { Now } from '../../wire.js'
import { whyOf } from '../api.js'
import { hrefOf } from '../routes.js'
import { useStore } from '../store-context.js'
import { Ago } from '../elements.js'
import { countOrDash, money, wait } from '../words.js'
import { MapPanel } from './map-panel.js'
import { QueuePlots } from './queue-plots.js'
import { QueueTable, shownQueue } from './queue-table.js'
import { FormingPanel, LimitsPanel, ServersPanel } from './servers-panel.js'

const crowds = [100, 1000, 10_000]

/** Shows buttons that add bots. Only in `muster dev`. */
function BotsPanel() {
  const { api, may, tellOutcome, connection } = useStore()
  const [isBusy, setBusy] = useState(false)
  const letIn = async (players: number) => {
    setBusy(true)
    try {
      await api().letBotsIn(players)
      tellOutcome(`${counted(players, 'bot')} arrive.`)
    } catch (error) {
      tellOutcome(whyOf(error, 'The bots could not be added.'))
    }
    setBusy(false)
  }
  return (
    <fieldset class="bots" disabled={isBusy || !may('players') || connection.value !== 'live'}>
      <legend>Let players in</legend>
      {crowds.map((players) => (
        <button key={players} type="button" onClick={() => void letIn(players)}>
          {grouped(players)}
        </button>
      ))}
    </fieldset>
  )
}

/** Shows recent problems, and why the program is not ready. */
function ProblemsPanel({ now: { problems, ready } }: { readonly now: Now }) {
  const isCalm = problems.length === 0 && ready.is
  return (
    <section class="problems" aria-labelledby="problems">
      <h2 id="problems">Problems</h2>
      <ul class="scroll" tabIndex={isCalm ? undefined : 0} aria-labelledby="problems">
        {isCalm ? <Calm /> : null}
        {ready.why.map((reason) => (
          <li key={reason} class="now-problem">
            <p>{reason}</p>
            <small>not ready for this reason</small>
          </li>
        ))}
        {problems.map(({ at, text, count, matchId }) => (
          <li key={`${text} ${matchId ?? ''}`}>
            <p>{text}</p>
            <small>
              <Ago at={at} />
              {count > 1 ? `, ${grouped(count)} times` : ''}
              {matchId === null ? null : (
                <>
                  {', '}
                  <a href={hrefOf('find', matchId)}>its match</a>
                </>
              )}
            </small>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Calm() {
  const { connection } = useStore()
  if (connection.value === 'live') return <li class="none calm">None. All goes as it should.</li>
  return <li class="none">None was known when the server was last seen.</li>
}

const stores = { memory: 'in memory only', folder: 'in a folder', redis: 'in Redis' }

/** Shows in one line of fixed height whether players are accepted, and if not, why. */
function Readiness({ now: { ready } }: { readonly now: Now }) {
  const { hello, connection } = useStore()
  const [reason, ...others] = ready.why
  if (connection.value !== 'live') {
    return (
      <p class="readiness is-away">
        <b>Not known</b>
        <span>The server does not answer; it was {ready.is ? 'ready' : 'not ready'} when it was last seen.</span>
      </p>
    )
  }
  return (
    <p class={`readiness ${ready.is ? 'is-ready' : 'is-not'}`}>
      <b>{ready.is ? 'Ready' : 'Not ready'}</b>
      {ready.is ? (
        <span>
          Players are taken.{' '}
          {hello.value === undefined ? null : (
            <small>
              Started <Ago at={hello.value.startedAt} />, tickets {stores[hello.value.store]}, version{' '}
              {hello.value.version}
              {leadingText(ready)}
            </small>
          )}
        </span>
      ) : (
        <span title={ready.why.join('\n')}>
          {reason ?? 'No reason is known.'}
          {others.length === 0 ? null : <small> and {others.length} more</small>}
        </span>
      )}
    </p>
  )
}

function leadingText({ leading, leader }: Now['ready']): string {
  if (leading === undefined) return ''
  return leading ? ', this process leads' : `, ${leader ?? 'another process'} leads`
}

/** The text for figures that only the leading process has. */
const ELSEWHERE = 'counted by the leading process'

const sumOfKnown = (counts: readonly (number | null)[]): number | null =>
  counts.includes(null) ? null : sum(counts as readonly number[])

/** Shows the most important figures. */
function Totals({ now: { ready, queues, queuesLeftOut, forming, formingLeftOut, servers } }: { readonly now: Now }) {
  const isFollower = ready.leading === false
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
      <Total
        name="Arrivals a minute"
        note={isFollower ? ELSEWHERE : `tickets, in ${counted(queues.length + queuesLeftOut, 'queue')}`}
      >
        {countOrDash(sumOfKnown(queues.map(({ arrivalsPerMinute }) => arrivalsPerMinute)))}
      </Total>
      <Total
        name="Matches a minute"
        note={isFollower ? ELSEWHERE : paused === 0 ? 'no queue is paused' : `${counted(paused, 'queue')} paused`}
      >
        {countOrDash(sumOfKnown(queues.map(({ matchesPerMinute }) => matchesPerMinute)))}
      </Total>
      <Total name="Matches forming" kind="forming" note="without a place to connect yet">
        {grouped(matches)}
      </Total>
      <Total
        name="Servers"
        kind="ready"
        note={servers.own === 0 ? `${grouped(running)} running` : `and ${grouped(servers.own)} on your own machines`}
      >
        {grouped(all - servers.own)}
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

/** Shows the current state of the matchmaker. */
export function NowView() {
  const { now, slowNow, connection, hello, route } = useStore()
  const slow = slowNow.value
  // Memoized, because React skips elements that are identical to the previous ones.
  const map = useMemo(() => (slow === undefined ? null : <MapPanel now={slow} />), [slow])
  const forming = useMemo(() => (slow === undefined ? null : <FormingPanel now={slow} />), [slow])
  const shown = now.value === undefined ? undefined : shownQueue(now.value, route.value)?.name
  const plots = useMemo(() => <QueuePlots queue={shown} />, [shown])
  if (now.value === undefined || hello.value === undefined) {
    return (
      <>
        <h1 class="hidden">Now</h1>
        <section class="waiting-for-data" aria-busy={connection.value === 'connecting'}>
          <h2>{connection.value === 'away' ? 'The server does not answer' : 'Connecting'}</h2>
          <p>
            {connection.value === 'away'
              ? 'The page retries by itself. It has received no data yet.'
              : 'The first figures come within a second.'}
          </p>
        </section>
      </>
    )
  }
  return (
    <>
      <h1 class="hidden">Now</h1>
      <div class="now-top">
        <Readiness now={now.value} />
        {hello.value.bots ? <BotsPanel /> : null}
      </div>
      <Totals now={now.value} />
      <div class="now-map">
        {map}
        <div class="now-side">
          <ProblemsPanel now={now.value} />
          {forming}
        </div>
      </div>
      <QueueTable now={now.value} />
      {plots}
      <div class="now-bottom">
        <ServersPanel servers={now.value.servers} />
        <LimitsPanel limits={now.value.limits} />
      </div>
    </>
  )
}
