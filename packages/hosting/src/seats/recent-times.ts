import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@muster/core/clock'
import { addressBlock, addressPrefix, createAttempts, growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'

/** Maximum number of remembered names (our choice). The least recently used are dropped. */
const REMEMBERED = 100_000

/** Remembers when events with a name happened. @param windowMs milliseconds for which a time is remembered */
export function createRecentTimes(windowMs: number, clock: Pick<Clock, 'now'>) {
  const byName = new LRUCache<string, readonly number[]>(growingTo(REMEMBERED))
  const of = (name: string) => (byName.get(name) ?? []).filter((at) => clock.now() - at < windowMs)
  return {
    /** Returns the epoch milliseconds of the events within the window, oldest first. */
    of,
    add: (name: string) => void byName.set(name, [...of(name), clock.now()]),
    forget: (name: string) => void byName.delete(name),
  }
}

/** Share of the passed time by which a player's total decreases (our choice). */
const FORGOTTEN = 1 / 4

/** Sums the time for which players held seats that they did not use. The sum decreases by 15 s a minute. */
export function createHeldTimes(clock: Pick<Clock, 'now'>) {
  const byPlayer = new LRUCache<string, { readonly heldMs: number; readonly at: number }>(growingTo(REMEMBERED))
  return {
    /** Adds milliseconds to a player's sum. Returns the sum. */
    add: (playerId: string, ms: number): number => {
      const at = clock.now()
      const before = byPlayer.get(playerId) ?? { heldMs: 0, at }
      const heldMs = Math.max(0, before.heldMs - (at - before.at) * FORGOTTEN) + ms
      byPlayer.set(playerId, { heldMs, at })
      return heldMs
    },
    forget: (playerId: string) => void byPlayer.delete(playerId),
  }
}

export interface Guess {
  readonly serverId: string
  readonly playerId: string
  /** IP address of the player. Undefined if unknown or if a backend asks. */
  readonly address: string | undefined
}

const MINUTE_MS = 60_000
/**
 * Maximum numbers of wrong passwords per minute (our choices): of a player at one server, of an address and of a
 * network at all servers, at one server (`server`), and at all servers together (`all`).
 */
const MOST_WRONG_OF_PLAYER = 3
const MOST_WRONG = { address: 20, network: 60, server: 120, all: 1200 }
type CountedMistake = keyof typeof MOST_WRONG
/** Prefix lengths of networks, in bits. */
const NETWORK = { ipv4: 24, ipv6: 48 }

/** Checks the passwords of servers, and limits wrong guesses. */
export function createPasswordTries(clock: Clock) {
  const wrongOf = (counted: CountedMistake) =>
    createAttempts({ limit: MOST_WRONG[counted], windowMs: MINUTE_MS, clock })
  const ofPlayer = createRecentTimes(MINUTE_MS, clock)
  const wrong = {
    address: wrongOf('address'),
    network: wrongOf('network'),
    server: wrongOf('server'),
    all: wrongOf('all'),
  }
  const nameOf = ({ serverId, playerId }: Guess) => JSON.stringify([serverId, playerId])
  const keysOf = ({ serverId, address }: Guess): readonly (readonly [CountedMistake, string])[] => [
    ...(address === undefined
      ? []
      : [['address', addressBlock(address)] as const, ['network', networkOf(address)] as const]),
    ['server', serverId],
    ['all', ''],
  ]
  const networkOf = (address: string) => addressPrefix(address, NETWORK) ?? address
  const key = randomBytes(32)
  /** Digests strings to one length, because `timingSafeEqual` requires equal lengths. */
  const digest = (text: string) => createHmac('sha256', key).update(text).digest()
  return {
    /** Returns the milliseconds until the guess is allowed. 0 if it is allowed now. */
    waitMs: (guess: Guess) => {
      const times = ofPlayer.of(nameOf(guess))
      const own = times.length < MOST_WRONG_OF_PLAYER ? 0 : (times[0] ?? 0) + MINUTE_MS - clock.now()
      return Math.max(own, ...keysOf(guess).map(([counted, name]) => wrong[counted].wait(name)))
    },
    /** True if the password is right, compared in constant time. Counts a wrong password. */
    isRight: (guess: Guess, { given, wanted }: { readonly given: string; readonly wanted: string }) => {
      if (timingSafeEqual(digest(given), digest(wanted))) return true
      ofPlayer.add(nameOf(guess))
      for (const [counted, name] of keysOf(guess)) wrong[counted].charge(name)
      return false
    },
  }
}
