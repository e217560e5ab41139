import { useState } from 'preact/hooks'
import { grouped, groupBy } from '../parts/index.js'
import type { ServerList, ServerRow, SourceRow } from '../wire-servers.js'
import { Cell, IdLink, number, PolledView, TableHead } from './elements.js'
import { KeysPanel } from './keys-panel.js'
import { PoolsPanel } from './pools-panel.js'
import { OutputPanel, ProcessButtons } from './server-process.js'
import { useStore } from './store-context.js'
import { AskButton } from './story-card.js'
import { money, wait } from './words.js'

/** Shows all servers, by location. */
export const ServersView = () => (
  <PolledView title="Servers" ask={(api, signal) => api.servers(signal)} show={(list) => <Answered list={list} />} />
)

function Answered({ list }: { readonly list: ServerList }) {
  /** Id of the deployment whose output is shown. */
  const [shown, show] = useState<string>()
  return (
    <>
      <PoolsPanel list={list} />
      <KeysPanel list={list} />
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
  const places = [...groupBy(servers, ({ place }) => place)]
  const hasProcesses = may('servers') && servers.some((row) => row.isProcess)
  const mayAct = hasProcesses || (may('servers') && servers.some((row) => row.mayDrain))
  const columns = 6 + (cost === null ? 0 : 1) + (mayAct ? 1 : 0)
  return (
    <section aria-labelledby="all-servers">
      <h2 id="all-servers">
        {grouped(total)} {total === 1 ? 'server' : 'servers'}, {grouped(players)} players
        {cost === null ? '' : `, ${money(cost, currency)} so far`}
      </h2>
      {list.sources.some(({ source }) => source !== null) ? (
        <p class="none">{list.sources.map(words).join('; ')}</p>
      ) : null}
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

interface RowProps extends ListProps {
  readonly row: ServerRow
  /** True if the table has a column of buttons. */
  readonly mayAct: boolean
}

function Row({ row, list, mayAct, show }: RowProps) {
  const { id, requestId, host, pool, source, matches, listing, queue, state, draining, players, since, cost } = row
  return (
    <tr>
      <th scope="row">
        {requestId === null ? <span class="none">no id yet</span> : <IdLink id={requestId} text={host ?? requestId} />}
      </th>
      <Cell kind="matches-cell" head="Matches or listing">
        {matches.length === 0 && listing === null ? <span class="none">none</span> : null}
        {listing === null ? null : (
          <>
            {listing.name} <small>{seatsIn(listing)}</small>
          </>
        )}
        {matches.map((matchId) => (
          <div key={matchId}>
            <IdLink id={matchId} />
          </div>
        ))}
      </Cell>
      <Cell kind="" head="Queue or pool">
        {queue ?? pool}
        {queue === null || pool === null ? null : (
          <>
            {' '}
            <small>{pool}</small>
          </>
        )}
        {source === null ? null : <small> {from(source)}</small>}
      </Cell>
      <Cell kind="" head="State">
        {state} {draining === null ? null : <small>{drains[draining] ?? draining}</small>}
      </Cell>
      <Cell head="Players">{grouped(players)}</Cell>
      <Cell head="Age">{wait(list.at - since)}</Cell>
      {cost === null ? null : <Cell head="Cost">{money(cost, list.currency)}</Cell>}
      {mayAct ? (
        <td class="drain-cell">
          {row.mayDrain ? (
            <AskButton action="drain-server" id={id} name={host ?? requestId ?? id} text="Drain" />
          ) : null}
          <ProcessButtons row={row} show={show} />
        </td>
      ) : null}
    </tr>
  )
}

const seatsIn = ({ seats, taken, held }: NonNullable<ServerRow['listing']>): string =>
  `${grouped(taken)} of ${grouped(seats)} seats taken${held === 0 ? '' : `, ${grouped(held)} held`}`

/** Names the source of servers. `enrolled` is reserved for servers that have enrolled themselves. */
const from = (source: string): string => (source === 'enrolled' ? 'enrolled' : `from ${source}`)

/** Returns the number of servers of a source, in words. */
const words = ({ source, servers, draining }: SourceRow): string =>
  `${grouped(servers)} ${from(source ?? 'the deployment service')}` +
  (draining === 0 ? '' : `, ${grouped(draining)} of them draining`)

/** Why a server drains, in a few words. */
const drains: Readonly<Record<string, string>> = {
  'own-wish': 'at its own request',
  operator: 'by an operator',
  update: 'new version or source',
  silent: 'did not answer',
}
