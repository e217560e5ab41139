import { enter } from './member.js'
import type { Member, Stage } from './stage.js'
import { SLOTS, turnOf, type Cast, type DemoPlayer, type LobbyScript, type Turn } from './script.js'
import { within } from './within.js'

/**
 * Milliseconds after a change within which all players of a lobby must be able to play again. Usually some 100 ms are
 * needed. With faults, two sessions may be given up one after another, 2 s each. The rest is for busy machines.
 */
const SETTLE_MS = 12_000

/** Plays one lobby from its creation to its end. */
export async function playLobby(stage: Stage, script: LobbyScript): Promise<void> {
  const { clock, lobbies, board } = stage
  const [host, ...friends] = script.gathering as [DemoPlayer, ...DemoPlayer[]]
  const players = new Map([...script.gathering, ...script.later].map((player) => [player.id, player]))
  const all: Member[] = []

  await clock.sleep(script.createdAfterMs)
  const created = await lobbies.create({ player: host, maxPlayers: SLOTS, visibility: 'private', requireReady: false })
  const { lobbyId, code } = created
  board.opened(created)
  all.push(enter(stage, lobbyId, host.id))

  const join = async (playerId: string) => {
    await lobbies.join({ player: players.get(playerId) as DemoPlayer, code })
    all.push(enter(stage, lobbyId, playerId))
  }
  const seated = () => board.table(lobbyId).seats.filter((id) => id !== undefined)
  const hostId = () => board.table(lobbyId).hostId as string
  const cast = (): Cast => {
    const inside = seated()
    const was = [...players.keys()].filter((id) => board.hasSeen(id))
    return {
      clients: inside.filter((id) => id !== hostId()),
      gone: was.filter((id) => !inside.includes(id) && !stage.members.has(id)),
      later: [...players.keys()].filter((id) => !was.includes(id)),
      freeSlots: SLOTS - inside.length,
    }
  }

  for (const { id } of friends) {
    await clock.sleep(script.joinEveryMs)
    await join(id)
  }
  await lobbies.start({ lobbyId, playerId: host.id })
  await settled()
  for (const scripted of script.turns) {
    await clock.sleep(scripted.afterMs)
    await take(turnOf(scripted, cast()))
    await settled()
  }
  await Promise.all(all.map((member) => member.drain()))
  await lobbies.end({ lobbyId, playerId: hostId() })
  await Promise.all(all.map(({ done }) => done))

  async function take({ kind, playerId = hostId() }: Turn): Promise<void> {
    switch (kind) {
      case 'join':
      case 'come back':
        return join(playerId)
      case 'leave':
        await stage.members.get(playerId)?.drain()
        return lobbies.leave({ lobbyId, playerId })
      case 'kick': {
        const thrownOut = stage.members.get(playerId)
        await lobbies.kick({ lobbyId, playerId: hostId(), targetId: playerId })
        return thrownOut?.done
      }
      case 'host leaves':
        return lobbies.leave({ lobbyId, playerId })
      case 'host hands over':
        return void (await lobbies.transferHost({ lobbyId, playerId: hostId(), targetId: playerId }))
    }
  }

  /** Resolves once everybody in the lobby plays in its newest session. */
  async function settled(): Promise<void> {
    const end = clock.now() + SETTLE_MS
    while (clock.now() < end) {
      const { run } = await lobbies.get({ lobbyId, playerId: hostId() })
      const isThere = () => seated().every((id) => stage.members.get(id)?.isLinked(run?.term) === true)
      if (run?.status === 'relayed' && (await within(100, isThere))) return
      await clock.sleep(10)
    }
    const { run } = await lobbies.get({ lobbyId, playerId: hostId() })
    const absent = seated().filter((id) => stage.members.get(id)?.isLinked(run?.term) !== true)
    stage.tally.stuck(
      `lobby ${code}: run ${run?.status}, term ${run?.term}; ${absent.length} of ${seated().length} not linked`,
    )
  }
}
