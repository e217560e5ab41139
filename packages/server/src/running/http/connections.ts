import type { Clock } from '@muster/core/clock'
import { addressBlocks } from '@muster/core/internal'

/** The connections of an address or prefix: their number, and how many of them may be ended. */
interface Holding {
  readonly held: number
  readonly free: number
}

/**
 * Returns the highest number of connections per holder at which enough of the surplus may be ended to free `need`
 * connections. Holders with the most connections lose some first. Holders at or below the level lose none. Returns 0 if
 * too few may be ended.
 */
export function levelFor(holdings: readonly Holding[], need: number): number {
  const freedAt = (level: number) =>
    holdings.reduce((sum, { held, free }) => sum + Math.min(free, Math.max(0, held - level)), 0)
  let [low, high] = [0, holdings.reduce((most, { held }) => Math.max(most, held), 0)]
  // Finds the highest level at which enough connections may be ended, by binary search.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (freedAt(middle) >= need) low = middle
    else high = middle - 1
  }
  return low
}

/** Keeps items by a size that changes by one at a time, so that a largest item is found without a search. */
class BySize<Thing> {
  readonly #bySize: Set<Thing>[] = []
  #largest = 0

  /** Changes the size of an item. An item of size 0 is removed. */
  move(thing: Thing, from: number, to: number): void {
    this.#bySize[from]?.delete(thing)
    if (to > 0) (this.#bySize[to] ??= new Set()).add(thing)
    this.#largest = Math.max(this.#largest, to)
    while (this.#largest > 0 && (this.#bySize[this.#largest]?.size ?? 0) === 0) this.#largest -= 1
  }

  largest(): Thing | undefined {
    return this.#bySize[this.#largest]?.values().next().value
  }
}

export interface ConnectionBounds {
  /** Maximum number of connections on which everybody is answered. */
  readonly most: number
  /**
   * Maximum number of connections of an IPv4 address or an IPv6 /64. A /56 may have twice as many, and a /48 four
   * times. Undefined means no such limit, because all connections come from a proxy's address.
   */
  readonly perAddress: number | undefined
}

export interface ConnectionsOptions<Socket> {
  /** Returns the limits of the current configuration. */
  readonly bounds: () => ConnectionBounds
  /** Number of connections above `most`. Only operators are answered on them. */
  readonly beyond: number
  readonly end: (socket: Socket) => void
  /** Called with the counts while connections are ended or refused, at most every ten seconds. */
  readonly onCrowded: (counts: ConnectionCounts) => void
  readonly clock: Clock
  /** Milliseconds for which a new connection, or one with a recent response, does not count as idle. Default 1000. */
  readonly freshMs?: number | undefined
}

/** The counts of connections. All except `open` and `largest` are totals since the start. */
export interface ConnectionCounts {
  readonly open: number
  /** Number of connections of the address or /48 that has most. */
  readonly largest: number
  /** Number of connections that were ended while they had no request, to make room for new ones. */
  readonly idleEnded: number
  /**
   * Number of connections that were ended during a request, because their address had more connections than that of a
   * new one.
   */
  readonly busyEnded: number
  /** Number of connections that were ended because too many requests waited on them. */
  readonly pipelinedEnded: number
  /** Number of refused connections. */
  readonly refused: number
}

/** The connections of an address or a prefix. */
interface Holder {
  readonly key: string
  /** True for the widest prefix of an address. Each connection belongs to exactly one such holder. */
  readonly isWidest: boolean
  readonly open: Set<Open<unknown>>
}

interface Open<Socket> {
  readonly socket: Socket
  readonly holders: readonly Holder[]
  readonly isBeyond: boolean
  requests: number
  /** Time of the connection's last response, or of its opening before the first response. */
  since: number
}

const FRESH_MS = 1000
/** Limits of a /64, a /56 and a /48, as multiples of the limit of an address (our choice). */
const MULTIPLES = [1, 2, 4] as const
/** Share of `most` that is freed in one search, so that not every new connection causes a search (our choice). */
const PART_FREED = 1 / 50
/** Maximum number of busy connections that are ended together (our choice). */
const BUSY_FREED = 16
/** Milliseconds until the next search for idle connections, after a search that freed none (our choice). */
const IN_VAIN_MS = 100
const TOLD_EVERY_MS = 10_000

/**
 * Keeps the connections of a listener within limits. A new connection is accepted if possible, and holders with the
 * most connections lose some instead.
 */
export function createConnections<Socket>(options: ConnectionsOptions<Socket>) {
  const { bounds, beyond, end, onCrowded, clock, freshMs = FRESH_MS } = options
  const all = new Map<Socket, Open<Socket>>()
  const holders = new Map<string, Holder>()
  const widest = new BySize<Holder>()
  const totals = { idleEnded: 0, busyEnded: 0, pipelinedEnded: 0, refused: 0 }
  let vainUntil = -Infinity
  let toldAt = -Infinity

  const holdersOf = (address: string): Holder[] => {
    const keys = addressBlocks(address)
    return keys.map((key, index) => {
      return holders.get(key) ?? { key, isWidest: index === keys.length - 1, open: new Set() }
    })
  }
  const forget = (one: Open<Socket>): void => {
    if (!all.delete(one.socket)) return
    for (const holder of one.holders) {
      holder.open.delete(one)
      if (holder.isWidest) widest.move(holder, holder.open.size + 1, holder.open.size)
      if (holder.open.size === 0) holders.delete(holder.key)
    }
  }
  const endAll = (ended: readonly Open<unknown>[], kind: keyof typeof totals): number => {
    for (const one of ended as readonly Open<Socket>[]) {
      forget(one)
      end(one.socket)
    }
    totals[kind] += ended.length
    return ended.length
  }
  const isIdle = ({ requests, since }: Open<unknown>) => requests === 0 && clock.now() - since >= freshMs
  const longestIdle = (holder: Holder, count: number) =>
    [...holder.open]
      .filter(isIdle)
      .toSorted((one, other) => one.since - other.since)
      .slice(0, count)

  /** Ends idle connections of the holders with the most connections. Returns the number of ended ones. */
  const endIdle = (need: number): number => {
    const holdings = [...holders.values()]
      .filter(({ isWidest }) => isWidest)
      .map((holder) => ({ holder, held: holder.open.size, free: countOf(holder.open, isIdle) }))
    const level = levelFor(holdings, need)
    const ended = holdings.flatMap(({ holder, held, free }) =>
      free === 0 || held <= level ? [] : longestIdle(holder, held - level),
    )
    return endAll(ended.slice(0, Math.max(need, 1)), 'idleEnded')
  }
  /** Ends the newest connections of the largest holder, unless the new connection's holder would then have as many. */
  const endBusy = (newcomer: Holder): void => {
    const largest = widest.largest()
    const more = (largest?.open.size ?? 0) - newcomer.open.size
    if (largest === undefined || more < 2) return
    endAll([...largest.open].slice(-Math.min(BUSY_FREED, Math.floor(more / 2))), 'busyEnded')
  }
  /** Frees a place for one more connection, if possible. */
  const makeRoom = (newcomer: Holder, { most, perAddress }: ConnectionBounds): void => {
    const now = clock.now()
    if (now >= vainUntil && endIdle(Math.ceil(most * PART_FREED)) === 0) vainUntil = now + IN_VAIN_MS
    if (all.size >= most && perAddress !== undefined) endBusy(newcomer)
  }
  const tell = () => {
    if (clock.now() - toldAt < TOLD_EVERY_MS) return
    toldAt = clock.now()
    onCrowded(counts())
  }
  const refuse = () => {
    totals.refused += 1
    tell()
    return false
  }
  const counts = (): ConnectionCounts => ({ open: all.size, largest: widest.largest()?.open.size ?? 0, ...totals })

  return {
    /** Adds a new connection. Returns false if it is refused, and then stores nothing. */
    open: (socket: Socket, address: string | undefined): boolean => {
      const bound = bounds()
      const { most, perAddress = Infinity } = bound
      const its = holdersOf(address ?? 'unknown')
      for (const [index, holder] of its.entries()) {
        const share = perAddress * (MULTIPLES[index] ?? 1)
        if (holder.open.size < share) continue
        if (endAll(longestIdle(holder, Math.ceil(share * PART_FREED)), 'idleEnded') === 0) return refuse()
        tell()
      }
      const isFull = all.size >= most
      if (isFull) {
        makeRoom(its.at(-1) as Holder, bound)
        if (all.size >= most + beyond) return refuse()
      }
      const one: Open<Socket> = { socket, holders: its, isBeyond: all.size >= most, requests: 0, since: clock.now() }
      all.set(socket, one)
      for (const holder of its) {
        holder.open.add(one)
        if (holder.isWidest) widest.move(holder, holder.open.size - 1, holder.open.size)
        holders.set(holder.key, holder)
      }
      if (isFull) tell()
      return true
    },
    /** Records the start of a request. Returns the function to call at the request's end. */
    begin: (socket: Socket) => {
      const one = all.get(socket)
      if (one === undefined) return () => {}
      one.requests += 1
      return () => {
        one.requests -= 1
        one.since = clock.now()
      }
    },
    closed: (socket: Socket) => {
      const one = all.get(socket)
      if (one !== undefined) forget(one)
    },
    /** Ends a connection on which too many requests wait. */
    endPipelined: (socket: Socket) => {
      const one = all.get(socket)
      if (one !== undefined) endAll([one], 'pipelinedEnded')
      tell()
    },
    /** Returns true if the connection was accepted above `most`, and there still are more than `most` connections. */
    isBeyond: (socket: Socket) => all.get(socket)?.isBeyond === true && all.size > bounds().most,
    counts,
  }
}

function countOf<T>(all: Iterable<T>, holds: (one: T) => boolean): number {
  let count = 0
  for (const one of all) if (holds(one)) count += 1
  return count
}
