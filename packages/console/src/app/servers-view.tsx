import { useState } from 'preact/hooks'
import { grouped } from '../parts/index.js'
import type { ServerList, ServerRow } from '../wire.js'
import { number, TableHead } from './elements.js'
import { PoolsPanel } from './pools-panel.js'
import { hrefOf } from './routes.js'
import { OutputPanel, ProcessButtons } from './server-process.js'
import { usePolled, useStore } from './store-context.js'
import { questionOf } from './story-card.js'
import { money, wait } from './words.js'

const AGAIN_MS = 5000

/** Every server, by place. */
export function ServersView() {
  const { answer, failure } = usePolled((api, signal) => api.servers(signal), AGAIN_MS)
  return (
    <>
      <h1 class="view-title">Servers</h1>
      {failure === undefined ? null : <p class="failure">{failure}</p>}
      {answer === undefined ? failure === undefined ? <p class="none">Looking …</p> : null : <Answered list={answer} />}
    </>
  )
}

function Answered({ list }: { readonly list: ServerList }) {
  /** Id of the deployment whose output is shown. */
  const [shown, show] = useState<string>()
  return (
    <>
      <PoolsPanel list={list} />
      <List list={list} show={show} />
      {shown === undefined ? null : <OutputPanel key={shown} requestId={shown} />}
    </>
  )
}

interface ListProps {
  readonly list: ServerList
  readonly show: (requestId: string) => void
}

function List({ list, show }: ListProps) {
  const { may } = useStore()
  const { total, players, cost, currency, servers } = list
  if (total === 0) {
    return (
      <section class="hint-card">
        <h2>There is no server now</h2>
        <p>
          A server is asked for as soon as a match is found, or kept warm by a pool, and stopped when it is not needed.
        </p>
      </section>
    )
  }
  const places = byPlace(servers)
  const hasProcesses = may('servers') && servers.some((row) => row.isProcess)
  const mayAct = hasProcesses || (may('servers') && servers.some((row) => row.mayDrain))
  const columns = 6 + (cost === null ? 0 : 1) + (mayAct ? 1 : 0)
  return (
    <section aria-labelledby="all-servers">
      <h2 id="all-servers">
        {grouped(total)} {total === 1 ? 'server' : 'servers'}, {grouped(players)} players
        {cost === null ? '' : `, ${money(cost, currency)} so far`}
      </h2>
      {servers.length < total ? <p class="none">The first {grouped(servers.length)} are listed.</p> : null}
      <div class="scroll" tabIndex={0} role="region" aria-label="Servers by place">
        <table class="wide-table cards servers-table">
          <caption class="hidden">Servers by place, the oldest first in each</caption>
          <TableHead
            columns={[
              'Server',
              'Matches or listing',
              'Queue or pool',
              'State',
              number('Players'),
              number('Age'),
              ...(cost === null ? [] : [number('Cost')]),
              ...(mayAct ? [{ text: hasProcesses ? 'Process' : 'Drain', kind: 'drain-head' }] : []),
            ]}
          />
          {places.map(([place, rows]) => (
            <tbody key={place}>
              <tr class="place-row">
                <th scope="rowgroup" colSpan={columns}>
                  {place ?? 'Place not known yet'} <small>{grouped(rows.length)}</small>
                </th>
              </tr>
              {rows.map((row) => (
                <Row key={row.id} row={row} list={list} mayAct={mayAct} show={show} />
              ))}
            </tbody>
          ))}
        </table>
      </div>
    </section>
  )
}

/** In the order in which they come. */
function byPlace(servers: readonly ServerRow[]): readonly (readonly [place: string | null, ServerRow[]])[] {
  const places = new Map<string | null, ServerRow[]>()
  for (const row of servers) {
    const rows = places.get(row.place)
    if (rows === undefined) places.set(row.place, [row])
    else rows.push(row)
  }
  return [...places]
}

interface RowProps extends ListProps {
  readonly row: ServerRow
  /** Whether there is a column of buttons. */
  readonly mayAct: boolean
}

function Row({ row, list, mayAct, show }: RowProps) {
  const { requestId, host, pool, matches, listing, queue, state, draining, players, since, cost } = row
  return (
    <tr>
      <th scope="row">
        {requestId === null ? (
          <span class="none">no id yet</span>
        ) : (
          <a href={hrefOf('find', requestId)}>
            <code>{host ?? requestId}</code>
          </a>
        )}
      </th>
      <td class="matches-cell" data-heading="Matches or listing">
        {matches.length === 0 && listing === null ? <span class="none">none</span> : null}
        {listing === null ? null : (
          <>
            {listing.name} <small>{seatsIn(listing)}</small>
          </>
        )}
        {matches.map((id) => (
          <div key={id}>
            <a href={hrefOf('find', id)}>
              <code>{id}</code>
            </a>
          </div>
        ))}
      </td>
      <td data-heading="Queue or pool">
        {queue ?? pool}
        {queue === null || pool === null ? null : (
          <>
            {' '}
            <small>{pool}</small>
          </>
        )}
      </td>
      <td data-heading="State">
        {state} {draining === null ? null : <small>{drains[draining] ?? draining}</small>}
      </td>
      <td class="number" data-heading="Players">
        {grouped(players)}
      </td>
      <td class="number" data-heading="Age">
        {wait(list.at - since)}
      </td>
      {cost === null ? null : (
        <td class="number" data-heading="Cost">
          {money(cost, list.currency)}
        </td>
      )}
      {mayAct ? (
        <td class="drain-cell">
          <Drain row={row} />
          <ProcessButtons row={row} show={show} />
        </td>
      ) : null}
    </tr>
  )
}

const seatsIn = ({ seats, taken, held }: NonNullable<ServerRow['listing']>): string =>
  `${grouped(taken)} of ${grouped(seats)} seats taken${held === 0 ? '' : `, ${grouped(held)} held`}`

/** Why a server drains, in a word or two. */
const drains: Readonly<Record<string, string>> = {
  'own-wish': 'by its own wish',
  operator: 'by an operator',
  update: 'new version',
  silent: 'did not answer',
}

function Drain({ row: { id, host, requestId, mayDrain } }: { readonly row: ServerRow }) {
  const { question, api, connection } = useStore()
  if (!mayDrain) return null
  const name = host ?? requestId ?? id
  return (
    <button
      type="button"
      aria-label={`Drain ${name}`}
      disabled={connection.value !== 'live'}
      onClick={() => (question.value = questionOf('drain-server', name, () => api().act('drain-server', id)))}
    >
      Drain
    </button>
  )
}
