import type { Now } from '../../wire/index.js'
import { useStore } from '../state/store-context.js'
import { Ago } from '../ui/ago.js'

const stores = { memory: 'in memory only', folder: 'in a folder', redis: 'in Redis' }

/** Whether players are taken, and if not, why: in one line of a fixed height. */
export function Readiness({ now: { ready } }: { readonly now: Now }) {
  const { hello, connection } = useStore()
  const [reason, ...others] = ready.why
  if (connection.value !== 'live') {
    return (
      <p class="readiness is-away">
        <b>Not known</b>
        <span>The server does not answer; it was {ready.is ? 'ready' : 'not ready'} when it was last seen.</span>
      </p>
    )
  }
  return (
    <p class={`readiness ${ready.is ? 'is-ready' : 'is-not'}`}>
      <b>{ready.is ? 'Ready' : 'Not ready'}</b>
      {ready.is ? (
        <span>
          Players are taken.{' '}
          {hello.value === undefined ? null : (
            <small>
              Started <Ago at={hello.value.startedAt} />, tickets {stores[hello.value.store]}, version{' '}
              {hello.value.version}
              {ready.leading === undefined ? '' : ready.leading ? ', this process leads' : ', another process leads'}
            </small>
          )}
        </span>
      ) : (
        <span title={ready.why.join('\n')}>
          {reason ?? 'No reason is known.'}
          {others.length === 0 ? null : <small> and {others.length} more</small>}
        </span>
      )}
    </p>
  )
}
