import { type Clock, systemClock, systemRandom } from './clock.js'
import { createRepeat, createSend, type Send } from './connection.js'
import { type EventSourceLike, followByEvents } from './events.js'
import { createLatencies, type Ping, pingByFetch } from './latencies.js'
import { createListeners } from './listeners.js'
import { createMachine, type Input, type Machine } from './machine.js'
import { goodBody, MusterError } from './refusal.js'
import type { Assignment, PlayRequest, State } from './state.js'

export interface MusterOptions {
  /** Where the ticket API is, for example `https://play.example.com/matchmaking`. */
  readonly url: string
  /** The player's token; none where a cookie does it. A function is asked again after a 401, once for all requests. */
  readonly token?: string | (() => string | Promise<string>)
  /** How a ticket is followed. `auto` (default): by events where there is an `EventSource`, else by long polls. */
  readonly follow?: 'auto' | 'events' | 'poll'
  /** Measures the latency to a beacon. Default: by requests to its TCP port. */
  readonly ping?: Ping
  /** For tests and platforms that lack them. */
  readonly fetch?: typeof fetch
  readonly openEvents?: (url: string) => EventSourceLike
  readonly clock?: Clock
  readonly random?: () => number
}

/** A player's way into a match. Await it for where to connect; `for await` it for each state on the way. */
export interface Search extends Promise<Assignment>, AsyncIterable<State> {
  /** Leaves the queue. @throws {MusterError} if a server was assigned meanwhile */
  cancel(): Promise<void>
  /** Accepts the match that was found. @throws {MusterError} */
  accept(): Promise<void>
  /** @throws {MusterError} */
  decline(): Promise<void>
  /** Why it still waits, in a sentence of English. @throws {MusterError} */
  explain(): Promise<string>
}

/** How long a search goes on. */
interface PlayOptions {
  /** Cancels the search. */
  readonly signal?: AbortSignal
  /** Milliseconds for which the group may gather: then the search rejects as `not-ready`. Default: no limit. */
  readonly readyWithinMs?: number
}

/** One player's connection with Muster. It sends nothing before the first call, and keeps nothing on the device. */
export interface Muster {
  /** What the player is in: the same object until something changes. */
  readonly state: State
  /** Calls back with each new state. Returns a function that ends it. */
  subscribe(listener: (state: State) => void): () => void
  /** Takes up what the player is in, on any device: call it when the game starts. @throws {MusterError} */
  resume(): Promise<State>
  /**
   * Searches a match. A player who is in something already goes on with that. Awaiting the result rejects with a
   * `MusterError`: a refusal, or the reason for which the search has ended.
   *
   * In a group it waits until all are ready: for ever if one never is. `state.group.waitingFor` says who, and
   * `readyWithinMs` for how long: then it rejects as `not-ready`, and the player is in the group still.
   */
  play(request: PlayRequest, options?: PlayOptions): Search
  readonly groups: {
    /** Makes a group. Others join by `state.group.id`. @throws {MusterError} */
    create(request: PlayRequest): Promise<void>
    /** @throws {MusterError} */
    join(groupId: string, request: PlayRequest): Promise<void>
    /** The search begins when all members are ready. @throws {MusterError} */
    ready(isReady?: boolean): Promise<void>
    /** @throws {MusterError} */
    leave(): Promise<void>
    /** The search of the group, for `await` and `for await`. It begins when all are ready; see `play`. */
    search(options?: PlayOptions): Search
  }
  /** Round trips to the beacons in milliseconds by city, measured once in ten minutes. */
  latencies(): Promise<Readonly<Record<string, number>>>
  /** Sends a request of the ticket API with the player's token, for what has no function here. Never rejects. */
  readonly send: Send
  /** The same, again and again until Muster has answered or the signal aborts: only for what may be done twice. */
  readonly repeat: Send
  /** The time that it goes by. */
  readonly clock: Clock
  /**
   * Ends requests and timers; wishes without an answer are refused as `closed`. The search goes on at Muster, unless
   * the queue asks for presence.
   */
  close(): void
}

interface Wish {
  readonly resolve: () => void
  readonly reject: (error: MusterError) => void
}

/** Before the number of a wish is known. */
type Unnumbered<Wanted> = Wanted extends { readonly command: number } ? Omit<Wanted, 'command'> : never

const isOver = ({ phase }: State) => phase === 'assigned' || phase === 'ended'

/**
 * Connects a player with Muster.
 * @throws {TypeError} for an option that cannot be
 */
export function createMuster(options: MusterOptions): Muster {
  return connect(options, createMachine(options.random ?? systemRandom))
}

/** Connects a machine, which a test may have wrapped. */
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
  const sendAll = events?.send ?? direct
  const latencies = createLatencies(direct, options.ping ?? pingByFetch(send, clock, url.startsWith('https')), clock)

  const { subscribe, tell } = createListeners<State>()
  const wishes = new Map<number, Wish>()
  const underWay = new Map<number, AbortController>()
  const inputs: Input[] = []
  let isStepping = false
  let commands = 0
  let state: State = Object.freeze({ phase: 'idle' })
  let timer = new AbortController()

  const step = (input: Input) => {
    inputs.push(input)
    // A listener may wish for something while it is told.
    if (isStepping) return
    isStepping = true
    try {
      for (let next = inputs.shift(); next !== undefined; next = inputs.shift())
        for (const output of machine.step(next, clock.now())) carryOut(output)
    } finally {
      isStepping = false
    }
  }

  /** A state for the game, which compares its date with the device's clock: that may have been set since the start. */
  const dated = (given: State): State => {
    const aheadMs = (clock.date?.() ?? clock.now()) - clock.now()
    return given.stale === undefined || aheadMs === 0
      ? given
      : Object.freeze({ ...given, stale: Math.round(given.stale + aheadMs) })
  }

  const carryOut = (output: ReturnType<typeof machine.step>[number]) => {
    if ('request' in output) {
      const ending = new AbortController()
      const { request } = output
      underWay.set(request, ending)
      void sendAll({ ...output, signal: ending.signal }).then((answer) => {
        if (underWay.delete(request)) step({ answer: request, ...answer })
      })
    } else if ('abort' in output) {
      const ending = underWay.get(output.abort)
      underWay.delete(output.abort)
      ending?.abort()
    } else if ('wakeAt' in output) {
      timer.abort()
      timer = new AbortController()
      if (output.wakeAt === null) return
      const ms = Math.max(0, output.wakeAt - clock.now())
      clock.sleep(ms, timer.signal).then(
        () => step({ wake: true }),
        () => {},
      )
    } else if ('state' in output) {
      state = dated(output.state)
      tell(state)
    } else if ('done' in output) {
      wishes.get(output.done)?.resolve()
      wishes.delete(output.done)
    } else {
      wishes.get(output.failed)?.reject(new MusterError(output.refusal))
      wishes.delete(output.failed)
    }
  }

  const wish = (wanted: Unnumbered<Extract<Input, { do: string }>>): Promise<void> => {
    commands += 1
    const command = commands
    const granted = new Promise<void>((resolve, reject) => wishes.set(command, { resolve, reject }))
    step({ ...wanted, command } as Input)
    return granted
  }

  const assignmentNow = (): Assignment => {
    if (state.phase === 'assigned') return state.assignment
    const reason = state.phase === 'ended' ? state.reason : 'gone'
    throw new MusterError({ status: 0, code: reason, message: 'The search has ended.' })
  }

  /** Rejects once the player's group has gathered for so long. */
  const notReadyAfter = (ms: number, over: Promise<void>): Promise<never> =>
    new Promise((_, reject) => {
      let waiting: AbortController | undefined
      const look = ({ phase }: State) => {
        if (phase === 'gathering' && waiting === undefined) {
          const mine = (waiting = new AbortController())
          clock.sleep(ms, mine.signal).then(
            () => {
              end()
              const message = 'The members of the group are not ready.'
              reject(new MusterError({ status: 0, code: 'not-ready', message }))
            },
            () => {},
          )
        } else if (phase !== 'gathering') {
          waiting?.abort()
          waiting = undefined
        }
      }
      const unsubscribe = subscribe(look)
      const end = () => {
        unsubscribe()
        waiting?.abort()
      }
      look(state)
      over.then(end, end)
    })

  const searchOf = (begin: () => Promise<void>, { signal, readyWithinMs }: PlayOptions = {}): Search => {
    if (readyWithinMs !== undefined && !(readyWithinMs > 0))
      throw new TypeError(`readyWithinMs: must be a number above 0, got ${readyWithinMs}`)
    const wished = begin()
    const granted = readyWithinMs === undefined ? wished : Promise.race([wished, notReadyAfter(readyWithinMs, wished)])
    const assignment = granted.then(assignmentNow)
    // Whoever only follows the states does not await it.
    assignment.catch(() => {})
    const cancel = () => void wish({ do: 'cancel' }).catch(() => {})
    if (signal?.aborted) cancel()
    else signal?.addEventListener('abort', cancel, { once: true })
    // What is searched afterwards is another matter.
    const end = () => signal?.removeEventListener('abort', cancel)
    assignment.then(end, end)
    return Object.assign(assignment, {
      cancel: () => wish({ do: 'cancel' }),
      accept: () => wish({ do: 'accept' }),
      decline: () => wish({ do: 'decline' }),
      explain: async () => {
        const ticket = 'ticket' in state ? state.ticket : undefined
        if (ticket === undefined) throw new MusterError({ status: 0, code: 'nothing', message: 'Nothing is searched.' })
        const path = `/tickets/${encodeURIComponent(ticket.id)}/explain`
        const { summary } = goodBody(await direct({ method: 'GET', path }), 'explained') as { readonly summary: string }
        return summary
      },
      [Symbol.asyncIterator]: () => statesUntilOver(assignment),
    })
  }

  async function* statesUntilOver(assignment: Promise<Assignment>): AsyncGenerator<State> {
    const queue: State[] = [state]
    let wake = () => {}
    let isSettled = false
    let error: unknown
    const end = subscribe((next) => {
      queue.push(next)
      wake()
    })
    const settle = () => {
      isSettled = true
      wake()
    }
    assignment.then(settle, (reason: unknown) => {
      error = reason
      settle()
    })
    try {
      let last: State | undefined
      for (;;) {
        while (queue.length > 0) {
          last = queue.shift() as State
          yield last
        }
        if (isSettled) {
          // Why it ended is a state; a refusal is none.
          if (error !== undefined && (last === undefined || !isOver(last))) throw error
          return
        }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      end()
    }
  }

  return {
    get state() {
      return state
    },
    subscribe,
    resume: () => wish({ do: 'resume' }).then(() => state),
    play: (request, given) => searchOf(() => wish({ do: 'play', request }), given),
    groups: {
      create: (request) => wish({ do: 'group', request }),
      join: (groupId, request) => wish({ do: 'group', request, join: groupId }),
      ready: (isReady = true) => wish({ do: 'ready', isReady }),
      leave: () => wish({ do: 'cancel' }),
      search: (given) => {
        const isSearch = state.phase === 'gathering' || state.phase === 'searching' || state.phase === 'found'
        const nothing = new MusterError({ status: 0, code: 'nothing', message: 'There is no group to search for.' })
        const begin = () => (isSearch ? wish({ do: 'play', request: { profile: '' } }) : Promise.reject(nothing))
        return searchOf(begin, given)
      },
    },
    latencies,
    send: direct,
    repeat: createRepeat(direct, clock, options.random ?? systemRandom),
    clock,
    close: () => {
      step({ do: 'close', command: 0 })
      events?.close()
    },
  }
}

function platformEvents(): ((url: string) => EventSourceLike) | undefined {
  const { EventSource: Platform } = globalThis as { readonly EventSource?: new (url: string) => EventSourceLike }
  return Platform && ((url) => new Platform(url))
}
