import { useEffect } from 'preact/hooks'
import { useFind } from './elements.js'
import { hrefOf, type Route } from './routes.js'
import { useStore } from './store-context.js'
import type { Scheme } from './store.js'
import { ago } from './words.js'

const views: readonly (readonly [view: Route['view'], name: string])[] = [
  ['now', 'Now'],
  ['find', 'Find'],
  ['queues', 'Queues'],
  ['servers', 'Servers'],
  ['changes', 'Changes'],
]

/** Shows the name, the navigation, the search field, and the state of the connection to the server. */
export function Header() {
  const { hello, route, token } = useStore()
  useSlash()
  return (
    <header class="top">
      <a class="brand" href={hrefOf('now')}>
        <Mark />
        <span>Muster</span>
        {hello.value === undefined ? null : <b title={`Version ${hello.value.version}`}>{hello.value.name}</b>}
      </a>
      {token.value === undefined ? null : (
        <>
          <nav aria-label="Views">
            {views.map(([view, name]) => (
              <a key={view} href={hrefOf(view)} aria-current={route.value.view === view ? 'page' : undefined}>
                {name}
              </a>
            ))}
          </nav>
          {route.value.view === 'find' ? <span class="quick-find" /> : <QuickFind />}
          <Heard />
        </>
      )}
      <SchemeSwitch />
      {token.value === undefined ? null : <SignedIn />}
    </header>
  )
}

const Mark = () => (
  <svg class="mark" viewBox="0 0 20 20" aria-hidden="true">
    <circle cx="6" cy="7" r="2.6" />
    <circle cx="14.5" cy="5.5" r="2" />
    <circle cx="13" cy="14" r="3.4" />
    <path d="M6 7 14.5 5.5 13 14z" />
  </svg>
)

/** Makes the `/` key focus the search field, except while the user types. */
function useSlash(): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, dialog') !== null
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return
      event.preventDefault()
      const field = document.querySelector<HTMLInputElement>('input[type=search]')
      field?.focus()
      field?.select()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

/** Shows the search field in the header. The find view has its own field, so the header omits it there. */
function QuickFind() {
  const { submit, input } = useFind()
  return (
    <form class="quick-find" role="search" aria-label="Find by id" onSubmit={submit}>
      <input {...input} name="id" aria-label="Id of a player, ticket, match or server" placeholder="Find by id" />
      <kbd aria-hidden="true">/</kbd>
    </form>
  )
}

function Heard() {
  const { connection, heardAt, clock, serverTime, now } = useStore()
  const state = connection.value
  // This read makes the sentence re-render every second.
  const second = serverTime.value
  const text =
    state === 'live'
      ? 'Live'
      : now.value === undefined
        ? state === 'away'
          ? 'No answer, trying again'
          : 'Connecting'
        : `Last seen ${ago(heardAt.value, clock.now())}`
  return (
    <p class={`heard ${state}`} data-second={Math.floor(second / 1000)}>
      {text}
    </p>
  )
}

const schemes: Readonly<Record<Scheme, { readonly next: Scheme; readonly name: string }>> = {
  system: { next: 'light', name: 'as the system' },
  light: { next: 'dark', name: 'light' },
  dark: { next: 'system', name: 'dark' },
}

function SchemeSwitch() {
  const { scheme, announcer } = useStore()
  const { next, name } = schemes[scheme.chosen.value]
  const change = () => {
    scheme.chosen.value = next
    announcer.say(`Colours: ${schemes[next].name}.`)
  }
  return (
    <button type="button" class="scheme" onClick={change} aria-label={`Colours: ${name}`} title={`Colours: ${name}`}>
      <svg viewBox="0 0 20 20" aria-hidden="true" class={scheme.chosen.value}>
        <circle cx="10" cy="10" r="6.5" />
        <path d="M10 3.5a6.5 6.5 0 0 1 0 13z" />
      </svg>
    </button>
  )
}

function SignedIn() {
  const { hello, role, signOut } = useStore()
  return (
    <p class="who">
      {hello.value === undefined ? null : (
        <span class="who-name">
          {hello.value.who} <small>may {role.value}</small>
        </span>
      )}
      <button type="button" onClick={signOut}>
        Sign out
      </button>
    </p>
  )
}
