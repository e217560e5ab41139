import type { AttemptLimit, LimitStore } from '@muster/core/http'
import { LobbyRefused } from '../errors.js'
import { parseCode } from './code.js'
import type { PlayerCommand } from './command.js'
import { createGuesses, refuseFor, type GuessLimits } from './guesses.js'
import { isPresent, memberOf, sessionOf, type Lobby } from './lobby.js'
import type { CheckedJoin, LobbyPlayer } from './options.js'
import type { DigestOf } from './password.js'
import type { LobbyStore } from './store.js'

export interface JoiningOptions {
  readonly store: LobbyStore
  readonly limits: GuessLimits & { readonly seatingsPerPlayer: AttemptLimit | null }
  readonly limitStore: LimitStore
  readonly digestOf: DigestOf
  readonly change: (lobbyId: string, command: PlayerCommand) => Promise<Lobby>
  /** Runs a task that makes the player a member of one more lobby, unless the player is in too many. */
  readonly enter: (player: LobbyPlayer, task: () => Promise<Lobby>) => Promise<Lobby>
}

/** The salt used if there is no lobby, so that the answer takes the same time. */
const NO_SALT = 'no lobby'

/** Creates `join`, by which players join a lobby and come back to it. */
export function createJoining({ store, limits, limitStore, digestOf, change, enter }: JoiningOptions) {
  const guesses = createGuesses(limits, limitStore)
  const seatings =
    limits.seatingsPerPlayer === null ? undefined : limitStore.attempts('seatingsPerPlayer', limits.seatingsPerPlayer)

  /**
   * Runs a join that seats the player in a running session, unless the player has been seated too often. A refused join
   * does not count.
   */
  const seated = async (lobby: Lobby, playerId: string, join: () => Promise<Lobby>): Promise<Lobby> => {
    if (sessionOf(lobby) === undefined) return join()
    refuseFor(await seatings?.take(playerId))
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
    const ended = code !== undefined || isAsked ? await guesses.begin(player) : undefined
    let wasWrong = code !== undefined && lobby === undefined
    try {
      // No digest is made for a player who may not enter anyway.
      return await enter(player, async () => {
        // A join by code takes the same time whether the lobby exists or not. Ids of public lobbies are no secret.
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
