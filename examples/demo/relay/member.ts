import type { LobbyMessage, RelayCredentials } from '@muster/relay'
import { openConnection, type Connection } from './connection.js'
import type { Member, Stage } from './stage.js'

interface Playing {
  readonly term: number
  readonly connection: Connection
}

export function enter(stage: Stage, lobbyId: string, playerId: string): Member {
  const { lobbies, pump, latencies, tally, members } = stage
  let playing: Playing | undefined

  const disconnect = () => {
    if (playing === undefined) return
    pump.remove(playing.connection)
    tally.packets(playing.connection.close())
    playing = undefined
  }
  const connect = ({ term, credentials }: Ticket) => {
    disconnect()
    playing = { term, connection: openConnection(credentials, latencies) }
    if (credentials.role === 'client') pump.add(playing.connection)
  }
  const follow = async () => {
    let thrownOut = false
    for await (const message of lobbies.follow({ lobbyId, playerId })) {
      if (ends.has(message.type)) playing?.connection.stop()
      if (message.type === 'you.left') thrownOut = message.reason === 'kicked'
      const ticket = ticketIn(message)
      if (ticket !== undefined) connect(ticket)
    }
    if (thrownOut && playing !== undefined) tally.thrownOut(await playing.connection.refused())
    disconnect()
    members.delete(playerId)
  }

  const done = follow()
  // Marks an error as handled. The lobby reads this promise only when all members have left, which may never happen.
  done.catch(() => {})
  const member: Member = {
    isLinked: (term = playing?.term) => playing !== undefined && playing.term === term && playing.connection.linked,
    drain: async () => playing?.connection.drain(),
    done,
  }
  members.set(playerId, member)
  return member
}

/** The messages after which the player's relay session has ended or will soon end. */
const ends: ReadonlySet<LobbyMessage['type']> = new Set<LobbyMessage['type']>([
  'relay.moving',
  'run.ended',
  'you.left',
  'lobby.closed',
])

interface Ticket {
  readonly term: number
  readonly credentials: RelayCredentials
}

function ticketIn(message: LobbyMessage): Ticket | undefined {
  if (message.type === 'relay.ready' || message.type === 'relay.credentials') {
    const { term, credentials } = message
    return credentials && { term, credentials }
  }
  const run = message.type === 'snapshot' ? message.lobby.run : null
  return run?.status === 'relayed' && run.credentials !== null
    ? { term: run.term, credentials: run.credentials }
    : undefined
}
