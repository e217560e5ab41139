import { batch, computed, effect, type ReadonlySignal, signal, type Signal } from '@preact/signals'
import { type Hello, isAllowed, type Now, type Permission, type QueueCard, type Role } from '../wire.js'
import type { Clock } from './clock.js'
import { type Api, createApi } from './api.js'
import { type FeedStatus, follow } from './follow.js'
import { type Route, routeOf } from './routes.js'
import { type Series, seriesOf, withStep } from './series.js'

const QUIET_MS = 4000

/**
 * Creates the texts for screen readers: at most one sentence in four seconds. Of several sentences, the last is read.
 */
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
    // An added space changes the text, because screen readers read the same words again only if the text changes.
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

/** Stores the token for this tab. The browser clears it when the tab is closed. */
type TabTokens = ReturnType<typeof tabTokens>

const TOKEN_KEY = 'muster-console-token'

export const tabTokens = (storage: Storage) => ({
  read: () => storage.getItem(TOKEN_KEY) ?? undefined,
  write: (token: string | undefined) =>
    token === undefined ? storage.removeItem(TOKEN_KEY) : storage.setItem(TOKEN_KEY, token),
})

/** Returns the token in a fragment, e.g. `#token=…`. The token ends before an `&`. */
export function tokenIn(fragment: string): string | undefined {
  const found = new URLSearchParams(fragment.replace(/^#/, '')).get('token')?.trim()
  return found === undefined || found === '' ? undefined : found
}

/** The colour scheme. `system`: that of the operating system. */
export type Scheme = 'system' | 'light' | 'dark'

const SCHEME_KEY = 'muster-console-scheme'
const isScheme = (text: string | null): text is Scheme => text === 'light' || text === 'dark'

/** Sets the colour scheme on the root element, and stores it in this browser if the user has chosen one. */
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

/** A question that the operator must confirm before an action. */
export interface Question {
  readonly title: string
  /** Sentences that describe what will happen. */
  readonly text: readonly string[]
  /** The text of the button, e.g. `Stop the match`. */
  readonly verb: string
  /** A sentence about what was done, shown after the action. */
  readonly done: string
  /** True if the action takes something away from players. */
  readonly isDestructive: boolean
  readonly act: () => Promise<unknown>
}

/** An edit of a queue that is not applied yet. */
interface QueueEdit {
  /** The queue that was edited. */
  readonly card: QueueCard
  readonly yaml: string
}

/** The state of the whole page. */
export interface Store {
  readonly clock: Clock
  readonly route: ReadonlySignal<Route>
  /** The token; undefined while nobody is signed in. */
  readonly token: ReadonlySignal<string | undefined>
  /** Why the last sign-in failed, in words. */
  readonly refusal: Signal<string>
  readonly connection: ReadonlySignal<FeedStatus>
  readonly hello: ReadonlySignal<Hello | undefined>
  readonly now: ReadonlySignal<Now | undefined>
  /**
   * The same as `now`, but updated at most once a second and in a separate frame, for views that are expensive to
   * render.
   */
  readonly slowNow: ReadonlySignal<Now | undefined>
  readonly series: ReadonlySignal<Series | undefined>
  /** When the server last responded, by the page's clock. */
  readonly heardAt: ReadonlySignal<number>
  /** The server's time in whole seconds. It continues while the server does not respond. */
  readonly serverTime: ReadonlySignal<number>
  readonly role: ReadonlySignal<Role>
  /** Returns true if the user's role has a permission. */
  readonly may: (permission: Permission) => boolean
  readonly question: Signal<Question | undefined>
  /** The result of the last action. It is shown for some seconds and then becomes empty. */
  readonly outcome: ReadonlySignal<string>
  /** Shows and announces the result of an action. */
  readonly tellOutcome: (sentence: string) => void
  /** Edits by the name of the queue. They are kept when the view changes. */
  readonly drafts: Map<string, QueueEdit>
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
  readonly tokens: TabTokens
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
  const connection = signal<FeedStatus>('connecting')
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
  const drafts = new Map<string, QueueEdit>()

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
  /**
   * The token of a link. A link must not sign out a user, so this token is used only if there is no other, or if the
   * other is refused.
   */
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
  const tell = (state: FeedStatus) => {
    const before = connection.peek()
    if (state === 'refused') return refused()
    connection.value = state
    if (state === 'away' && before === 'live') announcer.say('The server does not answer. The page is out of date.')
    if (state === 'live' && before === 'away' && now.peek() !== undefined) announcer.say('The server answers again.')
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

/** Returns the token in the page's address, and removes it from the address bar. */
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
