import type { Audit } from '../wire.js'
import { hrefOf } from './routes.js'
import { Ago, PolledView, TableHead } from './elements.js'

/** Shows the actions of operators, the newest first. */
export const ChangesView = () => (
  <PolledView title="Changes" ask={(api, signal) => api.acts(signal)} show={(audit) => <List audit={audit} />} />
)

function List({ audit: { acts } }: { readonly audit: Audit }) {
  if (acts.length === 0) {
    return (
      <section class="hint-card">
        <h2>No operator has changed anything</h2>
        <p>Whatever is done in this console is listed here, with the name of the key that did it.</p>
      </section>
    )
  }
  return (
    <section aria-labelledby="all-changes">
      <h2 id="all-changes">What operators did</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="List of changes">
        <table class="wide-table">
          <caption class="hidden">What operators did, the newest first</caption>
          <TableHead columns={['When', 'Who', 'What', 'To what']} />
          <tbody>
            {acts.map(({ at, who, what, id }, index) => (
              <tr key={`${at} ${index}`}>
                <th scope="row">
                  <Ago at={at} />
                </th>
                <td>{who}</td>
                <td>{words[what] ?? what}</td>
                <td>
                  <To what={what} id={id} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const words: Readonly<Record<string, string>> = {
  'cancel-ticket': 'cancelled a ticket',
  'stop-match': 'stopped a match',
  'drain-server': 'drained a server',
  'pause-queue': 'paused a queue',
  'resume-queue': 'resumed a queue',
  'apply-queue': 'changed a queue',
  'forgive-cooldown': 'ended a cooldown',
  'kill-server': 'killed a server',
  'revoke-enrolment': 'revoked an enrolment key',
  'let-bots-in': 'let bots in',
}

function To({ what, id }: { readonly what: string; readonly id: string }) {
  if (what === 'let-bots-in' || what === 'revoke-enrolment') return <>{id}</>
  return (
    <a href={hrefOf(what.endsWith('queue') ? 'queues' : 'find', id)}>
      <code>{id}</code>
    </a>
  )
}
