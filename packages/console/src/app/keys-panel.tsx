import { grouped, groupBy } from '../parts/index.js'
import type { KeyRow, ServerList } from '../wire-servers.js'
import { Cell, number, TableHead } from './elements.js'
import { useStore } from './store-context.js'
import { AskButton } from './story-card.js'

/** Shows the enrolment keys of servers, with a button for each key that may be revoked. */
export function KeysPanel({ list: { keys } }: { readonly list: ServerList }) {
  const { may } = useStore()
  if (keys.length === 0) return null
  const mayAct = may('servers') && keys.some(({ allowed }) => allowed === null)
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">
        Enrolment keys{' '}
        <small>by the first 8 digits of their SHA-256. To revoke one, remove it from the configuration first.</small>
      </h2>
      <table class="cards keys-table">
        <caption class="hidden">Keys with which servers add themselves, by pool</caption>
        <TableHead
          columns={[
            'Key',
            'Place',
            'Builds',
            number('Servers'),
            number('Matches each'),
            ...(mayAct ? [{ text: 'Revoke', kind: 'drain-head' }] : []),
          ]}
        />
        {[...groupBy(keys, ({ pool }) => pool)].map(([pool, rows]) => (
          <tbody key={pool}>
            <tr class="place-row">
              <th scope="rowgroup" colSpan={mayAct ? 6 : 5}>
                {pool}
              </th>
            </tr>
            {rows.map((row) => (
              <Key key={row.key} row={row} mayAct={mayAct} />
            ))}
          </tbody>
        ))}
      </table>
    </section>
  )
}

function Key({ row, mayAct }: { readonly row: KeyRow; readonly mayAct: boolean }) {
  const { key, place, servers, allowed, builds } = row
  return (
    <tr>
      <th scope="row">
        <code>{key}</code> {allowed === null ? <small class="attention">not in the configuration</small> : null}
      </th>
      <Cell kind="" head="Place">
        {place}
      </Cell>
      <Cell kind="" head="Builds">
        {builds.length === 0 ? <span class="none">none</span> : builds.join(', ')}{' '}
        {allowed === null ? null : (
          <small>{allowed.builds === null ? 'any allowed' : `${allowed.builds.join(', ')} allowed`}</small>
        )}
      </Cell>
      <Cell head="Servers">
        {grouped(servers)} {allowed === null ? null : <small>of {grouped(allowed.servers)}</small>}
      </Cell>
      <Cell head="Matches each">{allowed === null ? '–' : grouped(allowed.matches)}</Cell>
      {mayAct ? (
        <td class="drain-cell">
          {allowed === null ? <AskButton action="revoke-enrolment" id={key} name={key} text="Revoke" /> : null}
        </td>
      ) : null}
    </tr>
  )
}
