import { type ComponentChildren, Fragment } from 'preact'
import { counted, grouped, sum } from '../../parts/index.js'
import type { FormingPhase, LimitNow, Now, ServersNow } from '../../wire.js'
import { Ago, IdLink, Meter, number, TableHead } from '../elements.js'
import { countOrDash, money, percent } from '../words.js'

/** The colour class of each state of a server. Similar states share a class. */
const kinds: Readonly<Record<string, string>> = {
  running: 'ready',
  ready: 'ready',
  creating: 'starting',
  finding: 'starting',
  retrying: 'starting',
  warming: 'starting',
  starting: 'starting',
  stopping: 'stopping',
  failed: 'error',
  error: 'error',
  lost: 'error',
}

/** Shows the number of servers by state, with their limits and costs. */
export function ServersPanel({ servers }: { readonly servers: ServersNow }) {
  const { byState, most, createsPerMinute, mostCreatesPerMinute, money: spent } = servers
  const all = sum(byState.map(({ count }) => count))
  return (
    <section aria-labelledby="servers">
      <h2 id="servers">Servers</h2>
      <svg class="parts-bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
        <rect class="meter-ground" width="1000" height="10" />
        {byState.map(({ state, count }, at) => {
          const before = sum(byState.slice(0, at).map((other) => other.count))
          const whole = Math.max(all, most ?? 0, 1)
          return (
            <rect
              key={state}
              class={`part ${kinds[state] ?? 'stopping'}`}
              x={(before / whole) * 1000}
              width={(count / whole) * 1000}
              height="10"
            />
          )
        })}
      </svg>
      <table>
        <caption class="hidden">Servers by state</caption>
        <TableHead columns={['State', number('Servers')]} />
        <tbody>
          {byState.length === 0 ? (
            <tr>
              <th scope="row">none</th>
              <td class="number">0</td>
            </tr>
          ) : (
            byState.map(({ state, count }) => (
              <tr key={state}>
                <th scope="row">
                  <i class={`swatch ${kinds[state] ?? 'stopping'}`} />
                  {state}
                </th>
                <td class={`number ${count === 0 ? 'zero' : ''}`}>{grouped(count)}</td>
              </tr>
            ))
          )}
        </tbody>
      </table>
      <dl class="facts">
        <Fact name="At most">{most === null ? 'no bound' : grouped(most)}</Fact>
        <Fact name="Creates a minute">
          {countOrDash(createsPerMinute)}
          {mostCreatesPerMinute === null ? '' : ` of ${grouped(mostCreatesPerMinute)}`}
        </Fact>
        {spent === null ? (
          <Fact name="Money" kind="wide">
            unknown: set <code>spending.pricePerMinute</code> in the configuration
          </Fact>
        ) : (
          <>
            <Fact name="An hour, as it is now">{money(spent.perHourNow, spent.currency)}</Fact>
            <Fact
              name={
                <>
                  Since <Ago at={spent.since} />
                </>
              }
            >
              {money(spent.lastHour, spent.currency)}
            </Fact>
            <Fact name="A server a minute">{money(spent.pricePerMinute, spent.currency)}</Fact>
          </>
        )}
      </dl>
    </section>
  )
}

interface FactProps {
  readonly name: ComponentChildren
  readonly kind?: string
  readonly children: ComponentChildren
}

const Fact = ({ name, kind, children }: FactProps) => (
  <div class={kind}>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

const phases: Readonly<Record<FormingPhase, string>> = {
  accepting: 'players accept',
  allocating: 'asks for a server',
  starting: 'server starts',
  waiting: 'waits for a server',
}

/** Shows the matches whose players have no server address yet, the oldest first. */
export function FormingPanel({ now: { forming, formingLeftOut } }: { readonly now: Now }) {
  return (
    <section class="forming-matches" aria-labelledby="forming">
      <h2 id="forming">
        Matches forming <small>{grouped(forming.length + formingLeftOut)}, oldest first</small>
      </h2>
      <ul class="scroll" tabIndex={forming.length === 0 ? undefined : 0} aria-labelledby="forming">
        {forming.length === 0 ? <li class="none">None at this moment.</li> : null}
        {forming.map(({ matchId, queue, phase, players, since }) => (
          <li key={matchId}>
            <IdLink id={matchId} />
            <span class={`phase ${phase}`}>{phases[phase]}</span>
            <small>
              {counted(players, 'player')}, {queue}, <Ago at={since} />
            </small>
          </li>
        ))}
        {formingLeftOut === 0 ? null : <li class="more">and {grouped(formingLeftOut)} more</li>}
      </ul>
    </section>
  )
}

/** Shows the use of the deployment service's rate limits. */
export function LimitsPanel({ limits }: { readonly limits: readonly LimitNow[] }) {
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">
        Limits of the service <small>fullest first</small>
      </h2>
      {limits.length === 0 ? (
        <p class="none">Nothing has been asked of the service yet.</p>
      ) : (
        <table class="limits-table">
          <caption class="hidden">Limits of the service’s operations in use</caption>
          <TableHead
            columns={['Operation', { text: 'A second', kind: 'number a-second' }, 'In use', number('Calls waiting')]}
          />
          <tbody>
            {limits.map(({ operation, perSecond, used, waiting }) => (
              <tr key={operation}>
                <th scope="row">
                  {operation.split('.').map((part, at) => (
                    <Fragment key={part}>
                      {at === 0 ? '' : '.'}
                      <wbr />
                      {part}
                    </Fragment>
                  ))}
                </th>
                <td class="number a-second">{grouped(perSecond)}</td>
                <td class="meter-cell">
                  <Meter share={used} isFull={used > 0.85} />
                  <span class="number">{percent(used)}</span>
                </td>
                <td class={`number ${waiting > 0 ? 'attention' : ''}`}>{grouped(waiting)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}
