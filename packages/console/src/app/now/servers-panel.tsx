import { grouped, sum } from '../../parts/index.js'
import type { ServersNow } from '../../wire/index.js'
import { Ago } from '../ui/ago.js'
import { money } from '../words.js'

/** Which of the shared colours a state has. */
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

/** Servers by what they do, against their bounds, with the money that they cost. */
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
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col" class="number">
              Servers
            </th>
          </tr>
        </thead>
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
        <div>
          <dt>At most</dt>
          <dd>{most === null ? 'no bound' : grouped(most)}</dd>
        </div>
        <div>
          <dt>Creates a minute</dt>
          <dd>
            {grouped(createsPerMinute)}
            {mostCreatesPerMinute === null ? '' : ` of ${grouped(mostCreatesPerMinute)}`}
          </dd>
        </div>
        {spent === null ? (
          <div class="wide">
            <dt>Money</dt>
            <dd>
              unknown: set <code>spending.pricePerMinute</code> in the configuration
            </dd>
          </div>
        ) : (
          <>
            <div>
              <dt>An hour, as it is now</dt>
              <dd>{money(spent.perHourNow, spent.currency)}</dd>
            </div>
            <div>
              <dt>
                Since <Ago at={spent.since} />
              </dt>
              <dd>{money(spent.lastHour, spent.currency)}</dd>
            </div>
            <div>
              <dt>A server a minute</dt>
              <dd>{money(spent.pricePerMinute, spent.currency)}</dd>
            </div>
          </>
        )}
      </dl>
    </section>
  )
}
