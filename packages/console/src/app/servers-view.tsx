import { grouped } from '../parts/index.js'
import type { ServerList, ServerRow } from '../wire.js'
import { number, TableHead } from './elements.js'
import { hrefOf } from './routes.js'
import { usePolled } from './store-context.js'
import { money, wait } from './words.js'

const AGAIN_MS = 5000

/** Every server, by place. */
export function ServersView() {
  const { answer, failure } = usePolled((api, signal) => api.servers(signal), AGAIN_MS)
  return (
    <>
      <h1 class="view-title">Servers</h1>
      {failure === undefined ? null : <p class="failure">{failure}</p>}
      {answer === undefined ? failure === undefined ? <p class="none">Looking …</p> : null : <List list={answer} />}
    </>
  )
}

function List({ list }: { readonly list: ServerList }) {
  const { total, players, cost, currency, servers } = list
  if (total === 0) {
    return (
      <section class="hint-card">
        <h2>There is no server now</h2>
        <p>A server is asked for as soon as a match is found, and stopped when its match is over.</p>
      </section>
    )
  }
  const places = byPlace(servers)
  return (
    <section aria-labelledby="all-servers">
      <h2 id="all-servers">
        {grouped(total)} {total === 1 ? 'server' : 'servers'}, {grouped(players)} players
        {cost === null ? '' : `, ${money(cost, currency)} so far`}
      </h2>
      {servers.length < total ? <p class="none">The first {grouped(servers.length)} are listed.</p> : null}
      <div class="scroll" tabIndex={0} role="region" aria-label="Servers by place">
        <table class="wide-table">
          <caption class="hidden">Servers by place, the oldest first in each</caption>
          <TableHead
            columns={[
              'Server',
              'Match',
              'Queue',
              'State',
              number('Players'),
              number('Age'),
              ...(cost === null ? [] : [number('Cost')]),
            ]}
          />
          {places.map(([place, rows]) => (
            <tbody key={place}>
              <tr class="place-row">
                <th scope="rowgroup" colSpan={cost === null ? 6 : 7}>
                  {place ?? 'Place not known yet'} <small>{grouped(rows.length)}</small>
                </th>
              </tr>
              {rows.map((row) => (
                <Row key={row.matchId} row={row} list={list} />
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

function Row({ row, list }: { readonly row: ServerRow; readonly list: ServerList }) {
  const { requestId, host, matchId, queue, phase, players, since, cost } = row
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
      <td>
        <a href={hrefOf('find', matchId)}>
          <code>{matchId}</code>
        </a>
      </td>
      <td>{queue}</td>
      <td>{phase}</td>
      <td class="number">{grouped(players)}</td>
      <td class="number">{wait(list.at - since)}</td>
      {cost === null ? null : <td class="number">{money(cost, list.currency)}</td>}
    </tr>
  )
}
