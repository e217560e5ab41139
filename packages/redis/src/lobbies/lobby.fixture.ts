import type { Lobby, Member } from '@muster/relay'

const memberOf = (id: string, slot: number): Member => ({
  id,
  ip: '192.0.2.1',
  slot,
  presentSince: 1,
  awaySince: undefined,
  lastSeenAt: 1,
  ready: false,
  data: {},
  dataVersion: 1,
})

/** Returns an open, public lobby for four with these members. */
export const lobbyOf = (id: string, members: readonly string[], changes: Partial<Lobby> = {}): Lobby => ({
  id,
  code: `code-${id}`,
  visibility: 'public',
  maxPlayers: 4,
  entry: { kind: 'open' },
  lateJoin: true,
  requireReady: false,
  outcome: 'relay',
  createdAt: 1,
  activeAt: 1,
  phase: 'open',
  closedAt: undefined,
  hostId: members[0],
  members: members.map(memberOf),
  emptySince: undefined,
  applicants: [],
  banned: [],
  departed: [],
  data: {},
  dataVersion: 1,
  term: 0,
  run: undefined,
  retired: [],
  lease: undefined,
  seq: 0,
  events: [],
  ...changes,
})
