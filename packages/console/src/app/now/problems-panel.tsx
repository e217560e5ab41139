import type { Now } from '../../wire/index.js'
import { hrefOf } from '../routes.js'
import { useStore } from '../state/store-context.js'
import { Ago } from '../ui/ago.js'
import { grouped } from '../../parts/index.js'

/** What went wrong lately, and why the program is not ready, in words. */
export function ProblemsPanel({ now: { problems, ready } }: { readonly now: Now }) {
  const isCalm = problems.length === 0 && ready.is
  return (
    <section class="problems" aria-labelledby="problems">
      <h2 id="problems">Problems</h2>
      <ul class="scroll" tabIndex={isCalm ? undefined : 0} aria-labelledby="problems">
        {isCalm ? <Calm /> : null}
        {ready.why.map((reason) => (
          <li key={reason} class="now-problem">
            <p>{reason}</p>
            <small>not ready for this reason</small>
          </li>
        ))}
        {problems.map(({ at, text, count, matchId }) => (
          <li key={`${text} ${matchId ?? ''}`}>
            <p>{text}</p>
            <small>
              <Ago at={at} />
              {count > 1 ? `, ${grouped(count)} times` : ''}
              {matchId === null ? null : (
                <>
                  {', '}
                  <a href={hrefOf('find', matchId)}>its match</a>
                </>
              )}
            </small>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Calm() {
  const { connection } = useStore()
  if (connection.value === 'live') return <li class="none calm">None. All goes as it should.</li>
  return <li class="none">None was known when the server was last seen.</li>
}
