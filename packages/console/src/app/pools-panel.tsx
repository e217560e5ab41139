import { grouped } from '../parts/index.js'
import type { PoolRow, ServerList } from '../wire.js'
import { Meter, number, TableHead } from './elements.js'
import { hours, money, percent } from './words.js'

/** What each pool keeps warm by place, whether matches find it, and what it costs. */
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
        {byPool(pools).map(([pool, rows]) => (
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

function byPool(pools: readonly PoolRow[]): readonly (readonly [pool: string, PoolRow[]])[] {
  const names = [...new Set(pools.map(({ pool }) => pool))]
  return names.map((name) => [name, pools.filter(({ pool }) => pool === name)])
}

function Place({ row, currency }: { readonly row: PoolRow; readonly currency: string }) {
  const { place, wanted, warm, starting, playing, draining, asked, hits, expectedHit } = row
  const { cameLastHour, expectedPerHour, idleHours, idleCost } = row
  const hit = asked === 0 ? undefined : hits / asked
  return (
    <tr>
      <th scope="row">{place}</th>
      <td class="number" data-heading="Warm">
        {grouped(warm)} <small>of {grouped(wanted)} wanted</small>
      </td>
      <td class={numberOr0(starting)} data-heading="Starting">
        {grouped(starting)}
      </td>
      <td class={numberOr0(playing)} data-heading="Playing">
        {grouped(playing)}
      </td>
      <td class={numberOr0(draining)} data-heading="Draining">
        {grouped(draining)}
      </td>
      <td class="hit-cell" data-heading="Found a warm server">
        <span class="hit">
          <Meter share={hit ?? 0} />
          <span class="number">{hit === undefined ? '–' : percent(hit)}</span>
          <small>{expectedHit === null ? 'nobody comes' : `expected ${percent(expectedHit)}`}</small>
        </span>
      </td>
      <td class="number came-cell" data-heading="Matches, last hour">
        {grouped(cameLastHour)} <small>expected {grouped(Math.round(expectedPerHour))} an hour</small>
      </td>
      <td class="number" data-heading="Idle so far">
        {hours(idleHours)} <small>{idleCost === null ? '' : money(idleCost, currency)}</small>
      </td>
    </tr>
  )
}

const numberOr0 = (count: number) => (count === 0 ? 'number zero' : 'number')
