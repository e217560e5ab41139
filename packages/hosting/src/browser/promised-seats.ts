// pure: who has been promised a seat on a server that starts
import type { SeatParty, SessionStart } from '../store/index.js'

const partyOf = ({ playerIds, seatIds, groupId, isMoved }: SeatParty): SeatParty => ({
  playerIds,
  seatIds,
  groupId,
  isMoved,
})

/** All who have been promised seats: first those who had the server started. */
export const partiesOf = (start: SessionStart): readonly SeatParty[] => [partyOf(start), ...(start.joined ?? [])]

export const promisedIn = (start: SessionStart): number =>
  partiesOf(start).reduce((sum, { playerIds }) => sum + playerIds.length, 0)

/** The party with a player or a seat of this id, and at which index. */
export function promiseOf(start: SessionStart, ids: 'playerIds' | 'seatIds', id: string) {
  for (const party of partiesOf(start)) {
    const index = party[ids].indexOf(id)
    if (index !== -1) return { party, index }
  }
  return undefined
}

/** The start without what these players were promised. */
export function withoutPlayers<Start extends SessionStart>(start: Start, gone: readonly string[]): Start {
  const left = (party: SeatParty): SeatParty => ({
    ...partyOf(party),
    playerIds: party.playerIds.filter((id) => !gone.includes(id)),
    seatIds: party.seatIds.filter((_, index) => !gone.includes(party.playerIds[index] as string)),
  })
  const joined = (start.joined ?? []).map(left).filter(({ playerIds }) => playerIds.length > 0)
  return { ...start, ...left(start), joined }
}

/** The start with another party. */
export const withParty = <Start extends SessionStart>(start: Start, party: SeatParty): Start => ({
  ...start,
  joined: [...(start.joined ?? []), partyOf(party)],
})
