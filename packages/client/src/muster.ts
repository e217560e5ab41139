import { type Clock, systemClock, systemRandom } from './clock.js'
import { createRepeat, createSend, type Send } from './connection.js'
import { type EventSourceLike, followByEvents } from './events.js'
import { createLatencies, type Ping, pingByFetch } from './latencies.js'
import { createDriver } from './driver.js'
import { createMachine, type Machine } from './machine.js'
import { createSearches, failure, type PlayOptions, type Search } from './search.js'
import type { PlayRequest, State } from './state.js'

export interface MusterOptions {
  /** URL of the ticket API, e.g. `https://play.example.com/matchmaking`. */
  readonly url: string
  /**
   * The player's token, or a function that returns it. A function is called again after a 401, once for all refused
   * requests. Omit it if a cookie identifies the player.
   */
  readonly token?: string | (() => string | Promise<string>)
  /**
   * How a ticket is followed. `auto` (default): by events if `EventSource` exists, otherwise by long polls. Events that
   * do not arrive, e.g. because of a proxy, are replaced by long polls.
   */
  readonly follow?: 'auto' | 'events' | 'poll'
  /** Measures the latency to a beacon. Default: by HTTP requests to its TCP port. */
  readonly ping?: Ping
  /** Replacements for tests, and for platforms without `fetch` or `EventSource`. */
  readonly fetch?: typeof fetch
  readonly openEvents?: (url: string) => EventSourceLike
  readonly clock?: Clock
  readonly random?: () => number
}

/** One player's connection to Muster. It sends nothing before the first call, and stores nothing on the device. */
export interface Muster {
  /** Whether the player is idle, in a group, searching or in a match. It is the same object until something changes. */
  readonly state: State
  /** Calls the listener with each new state. Returns a function that removes it. */
  subscribe(listener: (state: State) => void): () => void
  /**
   * Continues with the player's ticket, group or match, which may have begun on another device. Call it when the game
   * starts. @throws {MusterError}
   */
  resume(): Promise<State>
  /**
   * Searches for a match. If the player already has a ticket, group or match, the search continues with it. Awaiting
   * the result rejects with a `MusterError` if the search is refused or ends.
   *
   * In a group the search begins once all members are ready. There is no time limit by default.
   * `state.group.waitingFor` lists the members who are not ready. After `readyWithinMs` the search rejects with
   * `not-ready`, and the player stays in the group.
   */
  play(request: PlayRequest, options?: PlayOptions): Search
  readonly groups: {
    /** Creates a group. Other players join it with `state.group.id`. @throws {MusterError} */
    create(request: PlayRequest): Promise<void>
    /** Joins a group. @throws {MusterError} */
    join(groupId: string, request: PlayRequest): Promise<void>
    /** Sets whether the player is ready. The search begins once all members are ready. @throws {MusterError} */
    ready(isReady?: boolean): Promise<void>
    /** Leaves the group. @throws {MusterError} */
    leave(): Promise<void>
    /**
     * Returns the search of the group, for `await` and `for await`. It begins once all members are ready: see `play`.
     */
    search(options?: PlayOptions): Search
  }
  /** Returns the round trips to the beacons in milliseconds, by city. They are measured at most once in ten minutes. */
  latencies(): Promise<Readonly<Record<string, number>>>
  /**
   * Sends a request of the ticket API with the player's token, for endpoints that have no method here. Never rejects.
   */
  readonly send: Send
  /**
   * Like `send`, but repeats until Muster has answered or the signal aborts. Use it only for requests that may safely
   * be repeated.
   */
  readonly repeat: Send
  /** The clock that the client uses. */
  readonly clock: Clock
  /**
   * Ends the requests and timers of the search. Pending commands fail with `closed`. The search continues on the
   * server, unless its queue requires presence. Lobbies and `servers.watch` are closed by themselves.
   */
  close(): void
}

/**
 * Creates the connection of a player to Muster.
 * @throws {TypeError} for an invalid option
 */
export function createMuster(options: MusterOptions): Muster {
  return connect(options, createMachine(options.random ?? systemRandom))
}

/** Creates the connection with a given machine. A test may have wrapped the machine. */
export function connect(options: MusterOptions, machine: Machine): Muster {
  const { url, token, clock = systemClock, follow = 'auto' } = options
  if (typeof url !== 'string' || !/^https?:\/\/|^\//.test(url))
    throw new TypeError(`url: must begin with http://, https:// or /, got ${JSON.stringify(url)}`)
  const send = options.fetch ?? ((...given: Parameters<typeof fetch>) => fetch(...given))
  const direct = createSend({ url, token, fetch: send, clock })
  const openEvents = options.openEvents ?? platformEvents()
  if (follow === 'events' && openEvents === undefined)
    throw new TypeError('follow: "events" needs an EventSource, which this platform lacks')
  const events =
    follow === 'poll' || openEvents === undefined ? undefined : followByEvents(direct, url, openEvents, clock)
  const latencies = createLatencies(direct, options.ping ?? pingByFetch(send, clock, url.startsWith('https')), clock)

  const driver = createDriver(machine, events?.send ?? direct, clock)
  const { state, subscribe, run } = driver
  const searchOf = createSearches(driver, direct, clock)
  return {
    get state() {
      return state()
    },
    subscribe,
    resume: () => run({ do: 'resume' }).then(state),
    play: (request, given) => searchOf(() => run({ do: 'play', request }), given),
    groups: {
      create: (request) => run({ do: 'group', request }),
      join: (groupId, request) => run({ do: 'group', request, join: groupId }),
      ready: (isReady = true) => run({ do: 'ready', isReady }),
      leave: () => run({ do: 'cancel' }),
      search: (given) => {
        const isIn = /gathering|searching|found/.test(state().phase)
        const nothing = () => Promise.reject(failure('nothing', 'The player is in no group.'))
        return searchOf(isIn ? () => run({ do: 'play', request: { profile: '' } }) : nothing, given)
      },
    },
    latencies,
    send: direct,
    repeat: createRepeat(direct, clock, options.random ?? systemRandom),
    clock,
    close: () => {
      driver.close()
      events?.close()
    },
  }
}

function platformEvents(): ((url: string) => EventSourceLike) | undefined {
  const { EventSource: Platform } = globalThis as { readonly EventSource?: new (url: string) => EventSourceLike }
  return Platform && ((url) => new Platform(url))
}
