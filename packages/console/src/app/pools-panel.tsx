import { grouped, groupBy } from '../parts/index.js'
import type { PoolRow, ServerList } from '../wire-servers.js'
import { Cell, Meter, number, TableHead } from './elements.js'
import { hours, money, percent } from './words.js'

/** Shows the warm servers of each pool by location, with their hit rate and their cost. */
export function PoolsPanel({ list: { pools, currency } }: { readonly list: ServerList }) {
  if (pools.length === 0) return null
  return (
    <section aria-labelledby="pools">
      <h2 id="pools">
        Pools <small>counts since the matchmaker began; what is expected, by the present rate</small>
      </h2>
      <table class="cards pools-table">
        <caption class="hidden">Pools of game servers, by place</caption>
        <TableHead
          columns={[
            'Place',
            number('Warm'),
            number('Starting'),
            number('Playing'),
            number('Draining'),
            { text: 'Found a warm server', kind: 'hit-head' },
            number('Matches, last hour'),
            number('Idle so far'),
          ]}
        />
        {[...groupBy(pools, ({ pool }) => pool)].map(([pool, rows]) => (
          <tbody key={pool}>
            <tr class="place-row">
              <th scope="rowgroup" colSpan={8}>
                {pool}
              </th>
            </tr>
            {rows.map((row) => (
              <Place key={row.place} row={row} currency={currency} />
            ))}
          </tbody>
        ))}
      </table>
    </section>
  )
}

function Place({ row, currency }: { readonly row: PoolRow; readonly currency: string }) {
  const { place, wanted, warm, starting, playing, draining, asked, hits, expectedHit } = row
  const { cameLastHour, expectedPerHour, idleHours, idleCost } = row
  const hit = asked === 0 ? undefined : hits / asked
  return (
    <tr>
      <th scope="row">{place}</th>
      <Cell head="Warm">
        {grouped(warm)} <small>of {grouped(wanted)} wanted</small>
      </Cell>
      {Object.entries({ Starting: starting, Playing: playing, Draining: draining }).map(([head, count]) => (
        <Cell key={head} kind={count === 0 ? 'number zero' : 'number'} head={head}>
          {grouped(count)}
        </Cell>
      ))}
      <Cell kind="hit-cell" head="Found a warm server">
        <span class="hit">
          <Meter share={hit ?? 0} />
          <span class="number">{hit === undefined ? '–' : percent(hit)}</span>
          {expectedHit === null ? (
            <small>{asked === 0 ? 'nobody comes' : ''}</small>
          ) : (
            <small>expected {percent(expectedHit)}</small>
          )}
        </span>
      </Cell>
      <Cell kind="number came-cell" head="Matches, last hour">
        {grouped(cameLastHour)} <small>expected {grouped(Math.round(expectedPerHour))} an hour</small>
      </Cell>
      <Cell head="Idle so far">
        {hours(idleHours)} <small>{idleCost === null ? '' : money(idleCost, currency)}</small>
      </Cell>
    </tr>
  )
}
