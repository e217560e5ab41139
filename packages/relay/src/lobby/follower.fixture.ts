import type { Lobby, LobbyEvent } from './lobby.js'
import { viewOf } from './view.js'

/** Creates a model of the lobby derived only from its events, like a client's. */
export function createFollower(lobby: Lobby) {
  const members = new Map(
    lobby.members.map((member) => [
      member.id,
      { slot: member.slot, present: true, ready: false, data: {}, dataVersion: 1 },
    ]),
  )
  const state = {
    hostId: lobby.hostId ?? null,
    phase: lobby.phase as string,
    data: {},
    dataVersion: 1,
    run: null as { term: number; status: string } | null,
  }
  const merge = (data: object, news: object) =>
    Object.fromEntries(Object.entries({ ...data, ...news }).filter(([, one]) => one !== null))
  const change = (id: string, news: object) =>
    members.set(id, { ...(members.get(id) as NonNullable<ReturnType<typeof members.get>>), ...news })
  const take = (event: LobbyEvent) => {
    switch (event.type) {
      case 'member.joined':
        return members.set(event.playerId, { slot: event.slot, present: true, ready: false, data: {}, dataVersion: 1 })
      case 'member.left':
        return members.delete(event.playerId)
      case 'member.away':
        return change(event.playerId, { present: false, ready: false })
      case 'member.back':
        return change(event.playerId, { present: true })
      case 'member.ready':
        return change(event.playerId, { ready: event.ready })
      case 'member.data':
        return change(event.playerId, {
          data: merge(members.get(event.playerId)?.data ?? {}, event.changes),
          dataVersion: event.version,
        })
      case 'host.changed':
        return Object.assign(state, { hostId: event.hostId })
      case 'data.changed':
        return Object.assign(state, { data: merge(state.data, event.changes), dataVersion: event.version })
      case 'lobby.starting':
        return Object.assign(state, { phase: 'starting', run: { term: event.term, status: 'allocating' } })
      case 'relay.moving':
        return Object.assign(state, { run: { term: event.term, status: 'allocating' } })
      case 'relay.ready':
        return Object.assign(state, { phase: 'running', run: { term: event.term, status: 'relayed' } })
      case 'match.handed-over':
        return Object.assign(state, { phase: 'running', run: { term: event.term, status: 'handed-over' } })
      case 'match.assigned':
        return Object.assign(state, { phase: 'running', run: { term: event.term, status: 'assigned' } })
      case 'run.ended':
        for (const id of members.keys()) change(id, { ready: false })
        return Object.assign(state, { phase: 'open', run: null })
      case 'run.failed':
        return Object.assign(state, { phase: 'open', run: null })
      case 'lobby.closed':
        return Object.assign(state, { phase: 'closed' })
      default:
        return undefined
    }
  }
  return { take, seen: () => ({ ...state, members: Object.fromEntries(members) }) }
}

export const asSeen = (lobby: Lobby) => {
  const { hostId, phase, data, dataVersion, run, members } = viewOf(lobby, 'nobody')
  return {
    hostId,
    phase,
    data,
    dataVersion,
    run: run && { term: run.term, status: run.status },
    members: Object.fromEntries(
      members.map(({ playerId: id, slot, present, ready, data: own, dataVersion: version }) => [
        id,
        { slot, present, ready, data: own, dataVersion: version },
      ]),
    ),
  }
}
