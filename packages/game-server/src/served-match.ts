import { type Attendance, createAttendance } from './attendance.js'
import type { Clock } from './clock.js'
import { InvalidCall } from './errors.js'
import type { JoinClaims } from './join-token.js'
import { checkedResult, type MatchResult } from './match-result.js'
import type { MatchReport, WireMatch } from './wire.js'

/** A player of a match, or of a listed server. */
export interface Player {
  readonly id: string
  /** Id of the match or of the listed session. */
  readonly matchId: string
  /** Name of the player's team; undefined if the match has no teams. */
  readonly team?: string | undefined
  /** Players with the same group id queued together. */
  readonly groupId?: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
}

/** Which further players a match wants. */
export interface SeatsWanted {
  readonly open: boolean
  /** Number of wanted players by team. Default: as many as have left. */
  readonly teams?: Readonly<Record<string, number>> | undefined
}

/** A match on this server. */
export interface Match {
  readonly id: string
  readonly queue: string
  /** Players by team, in the order of the queue's definition. If there are no teams, one team with an empty name. */
  readonly teams: Readonly<Record<string, readonly Player[]>>
  /** Players by id: those who were matched, and those who joined later through `seats`. */
  readonly players: ReadonlyMap<string, Player>
  /** The players' common attributes, from the rules `equal` and `overlap`. */
  readonly attributes: Readonly<Record<string, unknown>>
  /** Aborted when Muster has ended the match, or when the server must end. */
  readonly signal: AbortSignal
  /**
   * Requests further players, or withdraws the request. The handler `joined` is called with those who join.
   * @throws {InvalidCall}
   */
  seats(wanted: SeatsWanted): void
  /**
   * Ends the match. Its players may join another match at once. A repeated call does nothing.
   * @returns a promise that resolves once Muster has the result. The result is sent repeatedly while Muster cannot be
   * reached.
   * @throws {InvalidCall} if the result is invalid. The match then continues.
   */
  over(result?: MatchResult): Promise<void>
}

/** A match with the methods that only the server uses. */
export interface ServedMatch {
  readonly match: Match
  readonly attendance: Attendance
  status: MatchReport['status']
  /** Applies the players in newer orders. @returns the players who are new or have come back */
  update(order: WireMatch): readonly Player[]
  /**
   * Returns the player who has the seat of a token, by the newest orders; undefined if there is none. A removed player
   * has no seat. A new seat invalidates the tokens of the player's previous one.
   */
  playerOf(claims: JoinClaims): Player | undefined
  report(): MatchReport
  /** Ends an unfinished match without a result. A match to which no player was sent yet goes to another server. */
  giveUp(): void
  end(reason: string): void
}

/** Maximum number of players that a match may want for a team. */
const MOST_SEATS = 1000

/** Serves a match. @param changed reports a change; it resolves once Muster knows the change */
export function serveMatch(order: WireMatch, clock: Clock, changed: () => Promise<void>): ServedMatch {
  const attendance = createAttendance(clock, () => void changed())
  const ending = new AbortController()
  const players = new Map<string, Player>()
  /** The ticket ids of players, by player id. Empty if Muster does not send them. */
  const ticketOf = new Map<string, string>()
  /** The seats of the players in the newest orders, by player id. A seat is undefined if Muster does not send it. */
  let seatOf = new Map<string, string | undefined>()
  let teams: Record<string, readonly Player[]> = {}
  let seats: MatchReport['seats']
  let result: MatchResult | undefined
  let reported: Promise<void> | undefined

  const update = ({ teams: given }: WireMatch): readonly Player[] => {
    const tickets = given.flatMap((team) => team.players.map((player) => player.ticket_id))
    const isGroup = (ticketId: string) => tickets.filter((one) => one === ticketId).length > 1
    const joined: Player[] = []
    seatOf = new Map(given.flatMap((team) => team.players.map(({ id, seat_id }) => [id, seat_id ?? undefined])))
    teams = Object.fromEntries(
      given.map(({ name, players: members }) => [
        name,
        members.map(({ id, ticket_id, attributes }) => {
          const before = ticketOf.get(id)
          const isNew = !players.has(id) || (before !== undefined && ticket_id !== '' && before !== ticket_id)
          if (ticket_id !== '') ticketOf.set(id, ticket_id)
          if (isNew) attendance.expect(id)
          const player: Player = Object.freeze({
            id,
            matchId: order.id,
            team: name === '' ? undefined : name,
            groupId: isGroup(ticket_id) ? ticket_id : undefined,
            attributes: attributes ?? {},
          })
          players.set(id, player)
          if (isNew) joined.push(player)
          return player
        }),
      ]),
    )
    return joined
  }

  const match: Match = {
    id: order.id,
    queue: order.profile,
    get teams() {
      return teams
    },
    players,
    attributes: { ...order.equality, ...order.intersection },
    signal: ending.signal,
    seats: (wanted) => {
      for (const [team, count] of Object.entries(wanted.teams ?? {})) {
        if (!Object.hasOwn(teams, team)) throw new InvalidCall(`teams.${team}`, 'the match has no such team')
        if (!Number.isInteger(count) || count < 0 || count > MOST_SEATS)
          throw new InvalidCall(`teams.${team}`, `must be a whole number up to 1,000, got ${count}`)
      }
      if (typeof wanted.open !== 'boolean') throw new InvalidCall('open', `must be true or false, got ${wanted.open}`)
      seats = { open: wanted.open, ...(wanted.teams && { teams: { ...wanted.teams } }) }
      void changed()
    },
    over: (given) => {
      if (reported !== undefined) return reported
      result = checkedResult(given, players)
      served.status = 'over'
      seats = undefined
      reported = changed()
      return reported
    },
  }

  const served: ServedMatch = {
    match,
    attendance,
    status: 'loading',
    update,
    playerOf: ({ sub, sid }) => {
      // A player who has left with this seat is still known, whatever the newest orders say.
      if (attendance.hasLeftBy(sub, sid)) return players.get(sub)
      const isGood = seatOf.has(sub) && (seatOf.get(sub) ?? sid) === sid
      return isGood && !attendance.isAbsent(sub) ? players.get(sub) : undefined
    },
    report: () => {
      const statuses = attendance.statuses()
      // Muster knows of players who have left and are no longer in its orders. In a long match these become many.
      for (const [id, status] of statuses) if (status === 'left' && !seatOf.has(id)) statuses.delete(id)
      // Players in the ranking who never came are reported as left.
      for (const id of result?.ranking?.flat() ?? []) if (!statuses.has(id)) statuses.set(id, 'left')
      return {
        id: order.id,
        status: served.status,
        players: Object.fromEntries(statuses),
        ...(seats && { seats }),
        ...(result && { result }),
      }
    },
    giveUp: () => {
      if (served.status === 'over') return
      served.status = served.status === 'open' ? 'over' : 'refused'
      seats = undefined
    },
    end: (reason) => {
      attendance.close()
      ending.abort(new Error(reason))
    },
  }
  update(order)
  return served
}
