import type { Clock } from './clock.js'
import type { Send } from './connection.js'
import type { Driver } from './driver.js'
import { goodBody, MusterError } from './refusal.js'
import type { Assignment, State } from './state.js'

/** A player's search for a match. Await it for the assignment, or `for await` it for each state until then. */
export interface Search extends Promise<Assignment>, AsyncIterable<State> {
  /** Leaves the queue. @throws {MusterError} if a server has been assigned meanwhile */
  cancel(): Promise<void>
  /** Accepts the match. @throws {MusterError} */
  accept(): Promise<void>
  /** Declines the match. @throws {MusterError} */
  decline(): Promise<void>
  /** Returns one English sentence that explains why the search still waits. @throws {MusterError} */
  explain(): Promise<string>
}

/** When the client gives up a search. */
export interface PlayOptions {
  /** Aborting this signal cancels the search. */
  readonly signal?: AbortSignal
  /**
   * Maximum milliseconds for which the search waits until all members of the group are ready. It then rejects with
   * `not-ready`. Default: no limit.
   */
  readonly readyWithinMs?: number
}

/** Creates the error of a command that failed without a response from Muster. */
export const failure = (code: string, message: string) => new MusterError({ status: 0, code, message })

/** Creates the function that begins searches of the driver's player. */
export function createSearches(driver: Driver, send: Send, clock: Clock) {
  const { run } = driver
  /** @param begin runs the command that begins the search */
  return (begin: () => Promise<void>, { signal, readyWithinMs }: PlayOptions = {}): Search => {
    if (readyWithinMs !== undefined && !(readyWithinMs > 0))
      throw new TypeError(`readyWithinMs: must be a number above 0, got ${readyWithinMs}`)
    const begun = begin()
    const granted =
      readyWithinMs === undefined ? begun : Promise.race([begun, notReadyAfter(readyWithinMs, begun, driver, clock)])
    const assignment = granted.then(() => assignmentIn(driver.state()))
    // Without a handler, the rejection would count as unhandled if the caller only reads the states.
    assignment.catch(() => {})
    const cancel = () => void run({ do: 'cancel' }).catch(() => {})
    if (signal?.aborted) cancel()
    else signal?.addEventListener('abort', cancel, { once: true })
    // Removes the signal's listener once the search is over, because the signal must not cancel later searches.
    const end = () => signal?.removeEventListener('abort', cancel)
    assignment.then(end, end)
    return Object.assign(assignment, {
      cancel: () => run({ do: 'cancel' }),
      accept: () => run({ do: 'accept' }),
      decline: () => run({ do: 'decline' }),
      explain: () => explain(driver.state(), send),
      [Symbol.asyncIterator]: () => statesUntilOver(assignment, driver),
    })
  }
}

function assignmentIn(state: State): Assignment {
  if (state.phase === 'assigned') return state.assignment
  throw failure(state.phase === 'ended' ? state.reason : 'gone', 'The search has ended.')
}

async function explain(state: State, send: Send): Promise<string> {
  if (!('ticket' in state)) throw failure('nothing', 'No search is running.')
  const path = `/tickets/${encodeURIComponent(state.ticket.id)}/explain`
  const { summary } = goodBody(await send({ method: 'GET', path }), 'explained') as { readonly summary: string }
  return summary
}

/** Rejects once the player's group has waited `ms` milliseconds for its members. */
function notReadyAfter(ms: number, over: Promise<void>, driver: Driver, clock: Clock): Promise<never> {
  return new Promise((_, reject) => {
    let waiting: AbortController | undefined
    const onState = ({ phase }: State) => {
      if (phase === 'gathering' && waiting === undefined) {
        const mine = (waiting = new AbortController())
        clock.sleep(ms, mine.signal).then(
          () => {
            end()
            reject(failure('not-ready', 'The members of the group are not ready.'))
          },
          () => {},
        )
      } else if (phase !== 'gathering') {
        waiting?.abort()
        waiting = undefined
      }
    }
    const unsubscribe = driver.subscribe(onState)
    const end = () => {
      unsubscribe()
      waiting?.abort()
    }
    onState(driver.state())
    over.then(end, end)
  })
}

/**
 * Yields the states until the search is over. @throws {MusterError} if a refusal ended the search, because no state
 * shows a refusal
 */
async function* statesUntilOver(assignment: Promise<Assignment>, driver: Driver): AsyncGenerator<State> {
  const queue: State[] = [driver.state()]
  let wake = () => {}
  let isSettled = false
  let error: unknown
  const end = driver.subscribe((next) => {
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
        // The last state shows why the search ended, unless a refusal ended it.
        if (error !== undefined && (last === undefined || !isOver(last))) throw error
        return
      }
      await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    end()
  }
}

const isOver = ({ phase }: State) => phase === 'assigned' || phase === 'ended'
