import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { LimitStore } from '@muster/core/http'
import { addressBlock, whenKnown } from '@muster/core/internal'
import { LobbyRefused } from '../errors.js'
import { createKeyedLock } from '../keyed-lock.js'
import { type RandomInt, randomText } from '../random-text.js'
import type { LobbyCommand, PlayerCommand } from './command.js'
import type { CheckedJoin, LobbiesConfig, LobbyPlayer } from './lobby-options.js'
import { isPresent, type Lobby, type LobbyEvent, memberOf, sessionOf } from './lobby.js'

/** The letters of codes: no vowels, so that codes form no words, and no I, O or Y, which look like 1, 0 or V. */
export const CODE_ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ'

/** 20^8 = 2.6 × 10^10 codes for public lobbies, 20^10 = 10^13 for private ones. */
const LENGTHS = { public: 8, private: 10 } as const

export const newCode = (randomInt: RandomInt, visibility: 'public' | 'private'): string =>
  randomText(randomInt, CODE_ALPHABET, LENGTHS[visibility])

const CODE = new RegExp(`^[${CODE_ALPHABET}]{${LENGTHS.public}}(?:[${CODE_ALPHABET}]{2})?$`)

/** Parses a code as people type it, with lower case, spaces and dashes; undefined if the text cannot be a code. */
export function parseCode(text: string): string | undefined {
  const code = text.replaceAll(/[\s-]/g, '').toUpperCase()
  return CODE.test(code) ? code : undefined
}

/**
 * Cost of scrypt: 4 MB and about 8 ms. That is enough for lobby passwords, which friends type and whose attempts are
 * limited.
 */
const COST = { N: 2 ** 12, r: 8, p: 1 }
const BYTES = 32

/** Maximum number of concurrent digests: half of the threads of Node.js for files, names and digests together. */
const MOST_AT_ONCE = 2
/** Maximum number of waiting digests: about 1.5 s of work (our choice). */
const MOST_WAITING = 256

const derive = promisify<string, string, number, typeof COST, Buffer>(scrypt)

/**
 * Computes the digests that are stored instead of passwords, two at a time. More would occupy the threads for files and
 * name lookups, and any number of players can send passwords.
 * @returns a function that throws `busy` if too many digests are waiting.
 */
export function createDigests() {
  const waiting: (() => void)[] = []
  let underWay = 0

  const turn = async (): Promise<void> => {
    if (underWay < MOST_AT_ONCE) underWay += 1
    else if (waiting.length >= MOST_WAITING) throw new LobbyRefused('busy')
    else await new Promise<void>((resolve) => waiting.push(resolve))
  }
  /** Passes the slot to the next waiting call, or frees it. */
  const over = () => {
    const next = waiting.shift()
    if (next === undefined) underWay -= 1
    else next()
  }

  return async (password: string, salt: string): Promise<string> => {
    await turn()
    try {
      return (await derive(password.normalize('NFKC'), salt, BYTES, COST)).toString('base64url')
    } finally {
      over()
    }
  }
}

type Limits = LobbiesConfig['limits']

/** Returns the counter of a limit; undefined for no limit. */
function attemptsOf(name: Exclude<keyof Limits, 'lobbiesPerPlayer'>, limits: Limits, store: LimitStore) {
  const limit = limits[name]
  return limit === null ? undefined : store.attempts(name, limit)
}

/**
 * Limits how often one player, one address (IPv6: one /64) and all players can give a wrong code or password. For a
 * player and an address, running joins count too, because otherwise a guesser could try many concurrently. The overall
 * limit counts only wrong joins: a thousand players who join together are not an attack. Wrong joins beyond that limit
 * delay later ones, by at most one window plus the wait of one attempt.
 */
function createGuesses(limits: Limits, store: LimitStore) {
  const perPlayer = attemptsOf('joinsPerPlayer', limits, store)
  const perAddress = attemptsOf('joinsPerAddress', limits, store)
  const overall = attemptsOf('joinsOverall', limits, store)

  /**
   * Starts a join that may be a guess. Resolves with a function to call when the join has ended.
   * @throws {LobbyRefused} with the time to wait
   */
  return async ({ id, ip }: LobbyPlayer) => {
    const block = addressBlock(ip)
    // Counts in this process are not awaited, because each `await` costs more than the count.
    const all = overall?.wait(ALL)
    assertNoWait(all instanceof Promise ? await all : all)
    const own = perPlayer?.take(id)
    assertNoWait(own instanceof Promise ? await own : own)
    const taken = perAddress?.take(block) ?? 0
    const waitMs = taken instanceof Promise ? await taken : taken
    if (waitMs > 0) perPlayer?.giveBack(id)
    assertNoWait(waitMs)
    return (wasWrong: boolean) => {
      if (wasWrong) return overall?.charge(ALL)
      perPlayer?.giveBack(id)
      perAddress?.giveBack(block)
    }
  }
}

/** @throws {LobbyRefused} if there is a time to wait */
function assertNoWait(retryAfterMs = 0): void {
  if (retryAfterMs > 0) throw new LobbyRefused('too-many-attempts', { retryAfterMs })
}

const ALL = 'all'

/** The salt if there is no lobby, so that the response takes the same time. */
const NO_SALT = 'no lobby'

/** Creates `join`, by which players join a lobby and return to it. */
export function createJoining(
  { store, limits }: Pick<LobbiesConfig, 'store' | 'limits'>,
  limitStore: LimitStore,
  digestOf: ReturnType<typeof createDigests>,
  change: (lobbyId: string, command: PlayerCommand) => Promise<Lobby>,
  { enter }: Pick<Costs, 'enter'>,
) {
  const beginGuess = createGuesses(limits, limitStore)
  const seatings = attemptsOf('seatingsPerPlayer', limits, limitStore)

  /**
   * Runs a join that seats the player in a running session, unless the player was seated too often. A refused join does
   * not count.
   */
  const seated = async (lobby: Lobby, playerId: string, join: () => Promise<Lobby>): Promise<Lobby> => {
    if (sessionOf(lobby) === undefined) return join()
    assertNoWait(await seatings?.take(playerId))
    return join().catch((error: unknown) => {
      seatings?.giveBack(playerId)
      throw error
    })
  }

  const comeBack = (lobby: Lobby, input: CheckedJoin): Promise<Lobby> => {
    const { player } = input
    const join = () => change(lobby.id, commandOf(input, undefined))
    const member = memberOf(lobby, player.id)
    const isSeated = member !== undefined && isPresent(member) && member.ip === player.ip
    return isSeated ? join() : seated(lobby, player.id, join)
  }

  const digestFor = (password: string, lobby: Lobby | undefined) =>
    digestOf(password, lobby?.entry.kind === 'password' ? lobby.entry.salt : NO_SALT)

  /** Only a wrong code or password counts as a guess; other refusals do not. */
  const comeIn = async (lobby: Lobby | undefined, input: CheckedJoin): Promise<Lobby> => {
    const { player, code, password } = input
    const isAsked = lobby?.entry.kind === 'password'
    const ended = code !== undefined || isAsked ? await beginGuess(player) : undefined
    let wasWrong = code !== undefined && lobby === undefined
    try {
      // No digest is computed for a player who may not enter anyway.
      return await enter(player, async () => {
        // A join by code takes the same time whether the lobby exists or not. Ids of public lobbies are not secret.
        const digest =
          password !== undefined && (code !== undefined || isAsked) ? await digestFor(password, lobby) : undefined
        if (lobby === undefined) throw new LobbyRefused('not-joinable')
        wasWrong = lobby.entry.kind === 'password' && digest !== undefined && digest !== lobby.entry.digest
        return seated(lobby, player.id, () => change(lobby.id, commandOf(input, digest)))
      })
    } finally {
      ended?.(wasWrong)
    }
  }

  /** Returns the lobby that the player joined, or in which the player now waits for the host. */
  return async (input: CheckedJoin): Promise<Lobby> => {
    const { player, code, lobbyId } = input
    const known = code === undefined ? undefined : parseCode(code)
    const byCode = async () => (known === undefined ? undefined : store.getByCode(known))
    const found = (await (lobbyId === undefined ? byCode() : store.get(lobbyId)))?.lobby
    const isIn = found !== undefined && memberOf(found, player.id) !== undefined
    return isIn ? comeBack(found, input) : comeIn(found, input)
  }
}

const commandOf = ({ player, code, memberData }: CheckedJoin, digest: string | undefined): PlayerCommand => ({
  kind: 'join',
  playerId: player.id,
  ip: player.ip,
  by: code === undefined ? 'id' : 'code',
  digest,
  data: memberData,
})

type Costs = ReturnType<typeof createCosts>

/** Limits the cost of one player, and of all: lobbies, and their sessions or matches. */
export function createCosts(
  { limits, store, relay }: Pick<LobbiesConfig, 'store' | 'limits' | 'relay'>,
  limitStore: LimitStore,
) {
  const { lobbiesPerPlayer } = limits
  const creates = attemptsOf('createsPerPlayer', limits, limitStore)
  const sessions = attemptsOf('sessionsPerPlayer', limits, limitStore)
  // The matchmaker limits its servers itself.
  const allSessions = relay && attemptsOf('sessionsOverall', limits, limitStore)
  // Two concurrent joins of one player would not count each other, so they run one after the other.
  const lock = createKeyedLock()

  /** Runs a task that makes the player a member of one more lobby. @throws {LobbyRefused} */
  const enter = <T>({ id }: Pick<LobbyPlayer, 'id'>, task: () => Promise<T>): Promise<T> => {
    if (lobbiesPerPlayer === null) return task()
    return lock.run(id, async () => {
      if ((await store.idsOf(id)).length >= lobbiesPerPlayer) throw new LobbyRefused('too-many-lobbies')
      return task()
    })
  }

  return {
    enter,
    /** Runs a task that creates a lobby. @throws {LobbyRefused} */
    create: async <T>(player: LobbyPlayer, task: () => Promise<T>): Promise<T> => {
      assertNoWait(await creates?.take(player.id))
      return enter(player, task)
    },
    /** Checks a player's command before it runs. @throws {LobbyRefused} */
    admit: (command: LobbyCommand) => {
      if (command.kind !== 'start' && command.kind !== 'transferHost') return
      const all = allSessions?.wait(ALL)
      return whenKnown(sessions?.wait(command.playerId), (own) => {
        assertNoWait(own)
        return whenKnown(all, assertNoWait)
      })
    },
    /** Counts the new sessions or matches that a command caused. */
    chargeRuns: (command: LobbyCommand, events: readonly LobbyEvent[]) => {
      for (const { type } of events) {
        if (!isNewRun(type)) continue
        allSessions?.charge(ALL)
        // A host cannot be prevented from leaving, but is charged for the session that the next host needs.
        if ('playerId' in command) sessions?.charge(command.playerId)
      }
    },
  }
}

const isNewRun = (type: LobbyEvent['type']) => type === 'lobby.starting' || type === 'relay.moving'
