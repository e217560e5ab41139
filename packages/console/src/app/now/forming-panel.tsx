import { counted, grouped } from '../../parts/index.js'
import type { FormingPhase, Now } from '../../wire/index.js'
import { hrefOf } from '../routes.js'
import { Ago } from '../ui/ago.js'

const phases: Readonly<Record<FormingPhase, string>> = {
  accepting: 'players accept',
  allocating: 'asks for a server',
  starting: 'server starts',
  waiting: 'waits for a server',
}

/** Matches whose players do not know yet where to connect, the oldest first. */
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
            <a href={hrefOf('find', matchId)}>
              <code>{matchId}</code>
            </a>
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
