import { batch, computed, effect, type ReadonlySignal, signal, type Signal } from '@preact/signals'
import { type Hello, isAllowed, type Now, type Permission, type QueueCard, type Role } from '../wire.js'
import type { Clock } from './clock.js'
import { type Api, createApi } from './api.js'
import { type Connection, follow } from './follow.js'
import { type Route, routeOf } from './routes.js'
import { type Series, seriesOf, withStep } from './series.js'

const QUIET_MS = 4000

/** What screen readers are told, without chatter: a sentence in four seconds, the last of those that came together. */
export function createAnnouncer(clock: Clock) {
  const said = signal('')
  let next: string | undefined
  let isQuiet = true
  const rest = () => {
    isQuiet = false
    clock.after(QUIET_MS, () => {
      isQuiet = true
      if (next !== undefined) speak(next)
    })
  }
  const speak = (sentence: string) => {
    next = undefined
    // The same words again are only heard if the text changes.
    said.value = said.value === sentence ? `${sentence}\u00a0` : sentence
    rest()
  }
  return {
    said,
    say: (sentence: string) => {
      if (isQuiet) speak(sentence)
      else next = sentence
    },
  }
}

/** Where the token is kept: in this tab only, and gone when it is closed. */
type TokenStore = ReturnType<typeof tabTokens>

const TOKEN_KEY = 'muster-console-token'

export const tabTokens = (storage: Storage) => ({
  read: () => storage.getItem(TOKEN_KEY) ?? undefined,
  write: (token: string | undefined) =>
    token === undefined ? storage.removeItem(TOKEN_KEY) : storage.setItem(TOKEN_KEY, token),
})

/** The token of a fragment such as `#token=…`; `&` and what follows is not part of it. */
export function tokenIn(fragment: string): string | undefined {
  const found = new URLSearchParams(fragment.replace(/^#/, '')).get('token')?.trim()
  return found === undefined || found === '' ? undefined : found
}

/** `system`: what the system says. */
export type Scheme = 'system' | 'light' | 'dark'

const SCHEME_KEY = 'muster-console-scheme'
const isScheme = (text: string | null): text is Scheme => text === 'light' || text === 'dark'

/** The colour scheme, kept in this browser if one was chosen, and set on the root element. */
function createScheme(window: Window) {
  const { documentElement: root } = window.document
  const kept = window.localStorage.getItem(SCHEME_KEY)
  const chosen = signal<Scheme>(isScheme(kept) ? kept : 'system')
  const system = window.matchMedia('(prefers-color-scheme: dark)')
  const isSystemDark = signal(system.matches)
  system.addEventListener('change', ({ matches }) => {
    isSystemDark.value = matches
  })
  effect(() => {
    if (chosen.value === 'system') {
      delete root.dataset['scheme']
      window.localStorage.removeItem(SCHEME_KEY)
    } else {
      root.dataset['scheme'] = chosen.value
      window.localStorage.setItem(SCHEME_KEY, chosen.value)
    }
  })
  return {
    chosen,
    isDark: computed(() => (chosen.value === 'system' ? isSystemDark.value : chosen.value === 'dark')),
  }
}

/** What a person is asked before something is done. */
export interface Question {
  readonly title: string
  /** What will happen, in sentences. */
  readonly text: readonly string[]
  /** The words on the button, e.g. `Stop the match`. */
  readonly verb: string
  /** What was done, in one sentence. */
  readonly done: string
  /** Whether it takes something away from players. */
  readonly isHarsh: boolean
  readonly act: () => Promise<unknown>
}

/** An edit of a queue that was not applied. */
interface Draft {
  /** The queue that was edited. */
  readonly card: QueueCard
  readonly yaml: string
}

/** What the whole page knows. */
export interface Store {
  readonly clock: Clock
  readonly route: ReadonlySignal<Route>
  /** Undefined: nobody has signed in. */
  readonly token: ReadonlySignal<string | undefined>
  /** Why the last sign-in failed, in words. */
  readonly refusal: Signal<string>
  readonly connection: ReadonlySignal<Connection>
  readonly hello: ReadonlySignal<Hello | undefined>
  readonly now: ReadonlySignal<Now | undefined>
  /** The same once a second, in a frame of its own: for what is large to draw. */
  readonly slowNow: ReadonlySignal<Now | undefined>
  readonly series: ReadonlySignal<Series | undefined>
  /** When the server was last heard, by the page's clock. */
  readonly heardAt: ReadonlySignal<number>
  /** The server's clock in whole seconds, also while the server is away. */
  readonly serverTime: ReadonlySignal<number>
  readonly role: ReadonlySignal<Role>
  /** Whether the role of who looks may do something. */
  readonly may: (permission: Permission) => boolean
  readonly question: Signal<Question | undefined>
  /** What was done last, shown for some seconds; empty for nothing. */
  readonly outcome: ReadonlySignal<string>
  /** Shows and says what was done. */
  readonly tellOutcome: (sentence: string) => void
  /** By name of the queue: edits outlive a look at another view. */
  readonly drafts: Map<string, Draft>
  readonly announcer: ReturnType<typeof createAnnouncer>
  readonly scheme: ReturnType<typeof createScheme>
  readonly api: () => Api
  readonly signIn: (token: string) => void
  readonly signOut: () => void
}

interface StoreOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly window: Window
  readonly fetch: typeof globalThis.fetch
  readonly tokens: TokenStore
}

const OUTCOME_MS = 8000
const SLOW_MS = 900
const APART_MS = 120

export function createStore({ clock, random, window, fetch, tokens }: StoreOptions): Store {
  const base = new URL('api/', window.document.baseURI).href
  const route = signal(routeOf(window.location.hash))
  const brought = takeToken(window)
  const token = signal(tokens.read())
  const refusal = signal('')
  const connection = signal<Connection>('connecting')
  const hello = signal<Hello | undefined>(undefined)
  const now = signal<Now | undefined>(undefined)
  const slowNow = signal<Now | undefined>(undefined)
  const series = signal<Series | undefined>(undefined)
  const heardAt = signal(clock.now())
  const ahead = signal(0)
  const seconds = signal(clock.now())
  const announcer = createAnnouncer(clock)
  const question = signal<Question | undefined>(undefined)
  const outcome = signal('')
  const drafts = new Map<string, Draft>()

  window.addEventListener('hashchange', () => {
    const given = takeToken(window)
    if (given === undefined) route.value = routeOf(window.location.hash)
    else bring(given)
  })
  everySecond(clock, seconds)

  const signIn = (given: string) => {
    refusal.value = ''
    tokens.write(given)
    token.value = given
  }
  /** A link must sign nobody out: the token that it brought counts only if there is none, or that is refused. */
  let spare: string | undefined
  const bring = (given: string) => {
    if (token.peek() === undefined) signIn(given)
    else if (token.peek() !== given) spare = given
  }
  if (brought !== undefined) bring(brought)
  const refused = () => {
    const next = spare
    spare = undefined
    leave('The server does not know this token. Check it, or ask for another.')
    if (next !== undefined) signIn(next)
  }
  let cancelSlow = () => {}
  const leave = (why: string) =>
    batch(() => {
      cancelSlow()
      drafts.clear()
      tokens.write(undefined)
      token.value = undefined
      refusal.value = why
      question.value = undefined
      hello.value = undefined
      now.value = undefined
      slowNow.value = undefined
      series.value = undefined
    })

  let cancelOutcome = () => {}
  const tellOutcome = (sentence: string) => {
    announcer.say(sentence)
    outcome.value = sentence
    cancelOutcome()
    cancelOutcome = clock.after(OUTCOME_MS, () => {
      outcome.value = ''
    })
  }

  const heard = () => {
    heardAt.value = clock.now()
  }
  const tell = (state: Connection) => {
    const before = connection.peek()
    if (state === 'refused') return refused()
    connection.value = state
    if (state === 'away' && before === 'live') announcer.say('The server is away. What is shown is out of date.')
    if (state === 'live' && before === 'away' && now.peek() !== undefined) announcer.say('The server is back.')
  }
  const slowly = () => {
    slowNow.value = now.peek()
  }
  effect(() => {
    if (token.value === undefined) return
    const received = {
      hello: (value: Hello) =>
        batch(() => {
          heard()
          ahead.value = value.at - clock.now()
          hello.value = value
          series.value = seriesOf(value.history)
        }),
      now: (value: Now) =>
        batch(() => {
          heard()
          ahead.value = value.at - clock.now()
          now.value = value
          if (slowNow.peek() === undefined) slowNow.value = value
          else if (value.at - (slowNow.peek() as Now).at >= SLOW_MS) cancelSlow = clock.after(APART_MS, slowly)
        }),
      step: (value: Parameters<typeof withStep>[1]) => {
        if (series.peek() !== undefined) series.value = withStep(series.peek() as Series, value)
      },
    }
    return follow({ url: `${base}feed`, token: token.value, clock, random, fetch, ...received, connection: tell })
  })

  const role = computed(() => hello.value?.role ?? 'look')
  const api = computed(() => createApi(base, token.value ?? '', fetch))
  return {
    clock,
    route,
    token,
    refusal,
    connection,
    hello,
    now,
    slowNow,
    series,
    heardAt,
    serverTime: computed(() => Math.floor((Math.max(seconds.value, heardAt.value) + ahead.value) / 1000) * 1000),
    role,
    may: (permission) => isAllowed(role.value, permission),
    question,
    outcome,
    tellOutcome,
    drafts,
    announcer,
    scheme: createScheme(window),
    api: () => api.peek(),
    signIn,
    signOut: () => leave(''),
  }
}

/** The token that the address brought, which is removed from the address bar at once. */
function takeToken(window: Window): string | undefined {
  const brought = tokenIn(window.location.hash)
  if (brought !== undefined) window.history.replaceState(null, '', window.location.pathname + window.location.search)
  return brought
}

function everySecond(clock: Clock, seconds: Signal<number>): void {
  clock.after(1000, () => {
    seconds.value = clock.now()
    everySecond(clock, seconds)
  })
}
