import { createHash, type Hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { OperationId } from '../api/api.js'
import type { Clock } from '../time.js'

/**
 * Freezes a JSON value and all values in it. Not recursive, because a server may nest the values too deeply for the
 * stack.
 */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value]
  while (open.length > 0) {
    const part = open.pop()
    if (typeof part !== 'object' || part === null) continue
    for (const inside of Object.values(part)) open.push(inside)
    Object.freeze(part)
  }
  return value
}

/** Number of characters that are hashed at a time. */
const CHUNK = 64 * 1024

/**
 * Returns a short string that is equal for equal JSON values only. Unlike JSON.stringify it is not recursive, because
 * the service may nest a response too deeply for the stack.
 */
export function fingerprint(value: unknown): string {
  const hash = createHash('sha256')
  let text = ''
  const open: unknown[] = [value]
  while (open.length > 0) {
    const part = open.pop()
    if (part instanceof Mark) text += part.text
    else if (typeof part === 'object' && part !== null) text += opened(part, open)
    else text += `${typeof part}${JSON.stringify(part)};`
    if (text.length > CHUNK) text = hashed(hash, text)
  }
  hash.update(text)
  return hash.digest('base64')
}

/** A marker on the stack of unread values: the name of the next value, or the end of an object or list. */
class Mark {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const END = new Mark('end;')

/**
 * Pushes the values inside an object or list on the stack, the last one first. Returns the text to hash for its
 * beginning.
 */
function opened(part: object, open: unknown[]): string {
  open.push(END)
  if (Array.isArray(part)) {
    for (let index = part.length - 1; index >= 0; index -= 1) open.push(part[index])
    return 'list;'
  }
  for (const [key, value] of Object.entries(part).toReversed()) open.push(value, new Mark(`${JSON.stringify(key)}:`))
  return 'object;'
}

function hashed(hash: Hash, text: string): string {
  hash.update(text)
  return ''
}

/** A cache of responses that rarely change, for a limited time. */
export interface AnswerCache {
  /** Returns undefined if the key is unknown or expired. */
  get(key: string): object | undefined
  set(key: string, answer: unknown): void
}

const kept: ReadonlySet<OperationId> = new Set<OperationId>(['locations.list', 'locations.beacons'])

/**
 * True if the response may be cached: locations and beacons. Requests with `app` or `version` are not cached, because
 * their responses depend on capacity.
 */
export const mayKeep = (id: OperationId, input: Readonly<Record<string, unknown>>): boolean =>
  kept.has(id) && input['app'] === undefined && input['version'] === undefined

/** Creates a cache of responses. @param ttlMs milliseconds for which a response is cached; 0 for none. */
export function createAnswerCache(ttlMs: number, clock: Clock): AnswerCache {
  if (ttlMs === 0) return { get: () => undefined, set: () => {} }
  // 256 entries are enough for a few pages of a few filters. With ttlResolution 0, the cache reads the clock each time
  // instead of setting timers. It treats the time 0 as 'never expires'. A clock may begin at 0, so 1 is added.
  const perf = { now: () => clock.now() + 1 }
  const answers = new LRUCache<string, object>({ max: 256, ttl: ttlMs, ttlResolution: 0, perf })
  return {
    get: (key) => answers.get(key),
    set: (key, answer) => {
      if (typeof answer === 'object' && answer !== null) answers.set(key, answer)
    },
  }
}
