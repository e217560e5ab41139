import type { OperationId } from '../api/api.js'
import type { Settings } from '../api/settings.js'
import type { Operation } from '../operation.js'
import { pathOf, wireName } from '../wire.js'
import { InvalidInput } from './errors.js'

/** Phases of a call: waiting in the queue, waiting between attempts, or sent and awaiting the response. */
type Phase = 'queued' | 'retryWait' | 'inFlight'

/** Milliseconds spent in each phase. */
export type TimeSpent = Readonly<Record<Phase, number>>

/** Why a queue is blocked. All calls that wait in the queue share this object. */
export interface HoldUp {
  /** The latest refusal of a call of the queue; undefined once a later call was accepted. */
  refusal: unknown
  /** Returns why the queue's limiter gives no permits, unless the limit itself is the reason. Otherwise undefined. */
  readonly obstacle: () => Error | undefined
}

/** The progress of a call. The hops update it. It is read when the call times out or an attempt is judged. */
export class Progress {
  /** Epoch milliseconds of the latest deadline among the waiting callers. */
  deadline = 0
  /** Number of attempts that have begun. */
  attempt = 0
  /**
   * True if the current attempt was written to a connection and may have taken effect, i.e. no response has refused it.
   */
  written = false
  /** True if an earlier attempt may have taken effect: its response was lost, or was a 5xx. */
  doubtful = false
  /** The failure of the latest attempt. */
  lastError: unknown
  /** Why the queue in which the call waits is blocked. */
  holdUp: HoldUp | undefined
  /** The token of the latest attempt, which a response may repeat. */
  token: string | undefined
  phase: Phase = 'queued'
  /** Epoch milliseconds at which the phase began. */
  since: number
  /** Milliseconds spent in each phase before the current one. */
  readonly spent: Record<Phase, number> = { queued: 0, retryWait: 0, inFlight: 0 }

  constructor(now: number) {
    this.since = now
  }
}

export function enterPhase(progress: Progress, phase: Phase, now: number): void {
  progress.spent[progress.phase] += now - progress.since
  progress.phase = phase
  progress.since = now
}

/** Returns the milliseconds spent in each phase so far. */
export function timeSpent({ spent, phase, since }: Progress, now: number): TimeSpent {
  return { ...spent, [phase]: spent[phase] + now - since }
}

/**
 * Returns the name of an operation's queue and connections, which is the name of its documented limit. Operations
 * without a limit share one lane for reads and one for changes, because slow reads must not delay a call that stops a
 * server.
 */
export const laneOf = ({ limit, method }: Pick<Operation, 'limit' | 'method'>): string =>
  limit?.name ?? (method === 'GET' ? otherReads : otherChanges)

export const otherReads = 'other'
export const otherChanges = 'other changes'

/** An input, encoded for HTTP. */
interface EncodedInput {
  /** Path and query, ready for the request line. */
  readonly path: string
  /** Names and values of the headers, alternating. */
  readonly headers: readonly string[]
  /** JSON, or undefined for a request without a body. */
  readonly body: string | undefined
}

/**
 * Creates the function that encodes an operation's validated input as path, query, headers and body.
 * @param prefix path of the base URL, without a trailing slash.
 */
export function createEncoder(id: OperationId, operation: Operation, settings: Settings, prefix: string) {
  // '/v1/app/{app_name}/version' is split into '/v1/app/' and '/version'. Values go between the parts.
  const [first = '', ...rest] = `${prefix}${pathOf(operation, settings)}`.split(/\{\w+\}/)
  const filled = settings.fillRequired ? operation.fill : {}
  const alwaysBody = operation.method === 'POST' || operation.method === 'PATCH'

  return (input: Readonly<Record<string, unknown>>): EncodedInput => {
    let path = first
    operation.pathKeys.forEach((key, index) => {
      path += encodeSegment(id, key, String(input[key])) + rest[index]
    })
    let query = ''
    const headers: string[] = []
    let body: Record<string, unknown> | undefined = alwaysBody ? { ...filled } : undefined
    for (const key in input) {
      const value = input[key]
      if (value === undefined) continue
      const { place, name } = wireName(operation, key, settings)
      if (place === 'query')
        query += `${query === '' ? '?' : '&'}${encodeURIComponent(name)}=${encodeText(id, key, queryText(value))}`
      else if (place === 'header') headers.push(name, headerText(id, key, String(value)))
      else if (place === 'body') (body ??= {})[name] = value
    }
    if (body !== undefined) headers.push('content-type', 'application/json')
    return { path: path + query, headers, body: body === undefined ? undefined : JSON.stringify(body) }
  }
}

/**
 * Encodes a name as one segment of a path, including every character that could end the segment or the path. The names
 * `.`, `..` and '' are rejected: servers read `%2e%2e` as `..`, and an empty name would change the route.
 */
export function encodeSegment(id: OperationId, key: string, name: string): string {
  if (name === '' || name === '.' || name === '..') {
    throw new InvalidInput(`${id}: input ${key}: is ${JSON.stringify(name)}, which is not allowed in a path`, {
      operation: id,
      field: key,
    })
  }
  return encodeText(id, key, name)
}

function encodeText(id: OperationId, key: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch (cause) {
    throw new InvalidInput(`${id}: input ${key}: is not well-formed text: it contains half of a surrogate pair`, {
      operation: id,
      field: key,
      cause,
    })
  }
}

const queryText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function headerText(id: OperationId, key: string, text: string): string {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) {
    throw new InvalidInput(`${id}: input ${key}: contains characters that are not allowed in a header`, {
      operation: id,
      field: key,
    })
  }
  return text
}

/** One call on its way through the hops: retry, schedule, send, decode. */
export interface Request extends EncodedInput {
  readonly id: OperationId
  readonly operation: Operation
  /** The path's template. Events may show it. */
  readonly template: string
  /** Identifies the call in errors and events. */
  readonly call: string
  readonly input: Readonly<Record<string, unknown>>
  /** Requests of higher priority go first. Default 0. */
  readonly priority: number
  /** The caller's check before each attempt is written. */
  readonly mayWrite: (() => boolean) | undefined
  /** Aborted when no caller waits for the call. */
  readonly cancellation: AbortController
  readonly progress: Progress
}

/** Returns the facts that every error and event of the call includes. */
export function factsOf({ id, call, input }: Pick<Request, 'id' | 'call' | 'input'>) {
  const requestId = input['request_id']
  return { operation: id, call, requestId: typeof requestId === 'string' ? requestId : undefined }
}
