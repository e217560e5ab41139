import { useEffect, useRef } from 'preact/hooks'
import { ChangesView } from './changes-view.js'
import { FindView } from './find-view.js'
import { Header } from './header.js'
import { NowView } from './now/now-view.js'
import { QueuesView } from './queues/queues-view.js'
import { ServersView } from './servers-view.js'
import { useStore } from './store-context.js'
import { Confirm } from './elements.js'

/** Shows the form for the token. */
function SignIn() {
  const { signIn, refusal } = useStore()
  const field = useRef<HTMLInputElement>(null)
  const submit = (event: Event) => {
    event.preventDefault()
    const token = field.current?.value.trim() ?? ''
    if (token === '') field.current?.focus()
    else signIn(token)
  }
  return (
    <section class="sign-in" aria-labelledby="sign-in">
      <h1 id="sign-in">Sign in</h1>
      <p>
        The console opens with an API key of the configuration, of a role other than <code>backend</code>. With{' '}
        <code>muster dev</code>, open the address that it prints.
      </p>
      <form onSubmit={submit}>
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="token-refused"
          aria-invalid={refusal.value !== ''}
        />
        <button type="submit" class="main">
          Sign in
        </button>
      </form>
      <p id="token-refused" class="failure" role="alert">
        {refusal.value}
      </p>
      <p class="hint">It stays in this tab, is sent to this server only, and is forgotten when the tab is closed.</p>
    </section>
  )
}

const titles = { now: 'Now', find: 'Find', queues: 'Queues', servers: 'Servers', changes: 'Changes' }

/** Shows the whole page. */
export function App() {
  const { route, token, connection, now, hello, outcome } = useStore()
  const main = useRef<HTMLElement>(null)
  const { view } = route.value
  const isFirst = useRef(true)
  const name = hello.value?.name
  useEffect(() => {
    document.title = `${titles[view]}${name === undefined ? '' : ` – ${name}`} – Muster`
  }, [view, name])
  useEffect(() => {
    // Moves the focus to the view's heading, as a browser does after a link to another page.
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [view])
  const isStale = connection.value !== 'live' && now.value !== undefined
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault()
          main.current?.focus()
        }}
      >
        To the content
      </a>
      <Header />
      <main id="main" ref={main} tabIndex={-1} class={isStale ? 'stale' : ''}>
        {token.value === undefined ? (
          <SignIn />
        ) : view === 'now' ? (
          <NowView />
        ) : view === 'find' ? (
          <FindView />
        ) : view === 'queues' ? (
          <QueuesView />
        ) : view === 'servers' ? (
          <ServersView />
        ) : (
          <ChangesView />
        )}
      </main>
      <Said />
      <p class={`outcome ${outcome.value === '' ? '' : 'shown'}`} aria-hidden="true">
        {outcome}
      </p>
      <Confirm />
    </>
  )
}

/** A live region for screen readers. Other users see the change itself. */
function Said() {
  const { announcer } = useStore()
  return (
    <p class="announcer" role="status">
      {announcer.said.value}
    </p>
  )
}
