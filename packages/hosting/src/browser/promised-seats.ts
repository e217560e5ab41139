// pure: the players who have been promised a seat on a server that is still starting, and which session they share
import type { SessionWanted } from '../game-servers/index.js'
import type { Server, StopReason } from '../records/index.js'
import type { SeatParty, SessionStart } from '../store/index.js'

const partyOf = ({ playerIds, seatIds, groupId, isMoved }: SeatParty): SeatParty => ({
  playerIds,
  seatIds,
  groupId,
  isMoved,
})

/** Returns all parties with promised seats. The first party requested the server. */
export const partiesOf = (start: SessionStart): readonly SeatParty[] => [partyOf(start), ...(start.joined ?? [])]

export const promisedIn = (start: SessionStart): number =>
  partiesOf(start).reduce((sum, { playerIds }) => sum + playerIds.length, 0)

/** Returns the party that contains this player or seat id, and the index of the id within the party. */
export function promiseOf(start: SessionStart, ids: 'playerIds' | 'seatIds', id: string) {
  for (const party of partiesOf(start)) {
    const index = party[ids].indexOf(id)
    if (index !== -1) return { party, index }
  }
  return undefined
}

/** Returns the pending start without the seats promised to these players. */
export function withoutPlayers<Start extends SessionStart>(start: Start, gone: readonly string[]): Start {
  const left = (party: SeatParty): SeatParty => ({
    ...partyOf(party),
    playerIds: party.playerIds.filter((id) => !gone.includes(id)),
    seatIds: party.seatIds.filter((_, index) => !gone.includes(party.playerIds[index] as string)),
  })
  const joined = (start.joined ?? []).map(left).filter(({ playerIds }) => playerIds.length > 0)
  return { ...start, ...left(start), joined }
}

/** Returns the pending start with another party added. */
export const withParty = <Start extends SessionStart>(start: Start, party: SeatParty): Start => ({
  ...start,
  joined: [...(start.joined ?? []), partyOf(party)],
})

/** True if the session has no password and exactly these attributes, so that parties may share it. */
export const isLike = ({ password, attributes: has }: SessionWanted, attributes: SessionWanted['attributes']) =>
  password === undefined &&
  Object.keys(has).length === Object.keys(attributes).length &&
  Object.entries(attributes).every(([name, value]) => Object.hasOwn(has, name) && has[name] === value)

/** Stop reasons of a server that has failed. */
const FAILURES: ReadonlySet<StopReason> = new Set<StopReason>([
  'no-capacity',
  'unavailable',
  'lost',
  'failed',
  'too-slow',
  'not-listening',
  'ended',
  'crashed',
  'restarted',
])

/** True if players who wait for the server get another one when it ends. */
export const isReplaced = ({ stopReason }: Server): boolean => stopReason === undefined || FAILURES.has(stopReason)
