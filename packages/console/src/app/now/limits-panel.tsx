import { Fragment } from 'preact'
import { grouped } from '../../parts/index.js'
import type { LimitNow } from '../../wire/index.js'
import { Meter } from '../ui/meter.js'
import { percent } from '../words.js'

/** How much of the service's limits is used. */
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
          <thead>
            <tr>
              <th scope="col">Operation</th>
              <th scope="col" class="number a-second">
                A second
              </th>
              <th scope="col">In use</th>
              <th scope="col" class="number">
                Calls waiting
              </th>
            </tr>
          </thead>
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
