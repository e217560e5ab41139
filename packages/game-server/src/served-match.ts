import { type Attendance, createAttendance } from './attendance.js'
import type { Clock } from './clock.js'
import { InvalidCall } from './errors.js'
import type { JoinClaims } from './join-token.js'
import type { MatchReport, WireMatch } from './wire.js'

/** A player of a match, or of a listed server. */
export interface Player {
  readonly id: string
  /** Id of the match or of the listed session. */
  readonly matchId: string
  /** Undefined without teams. */
  readonly team?: string | undefined
  /** Players with the same group id came together. */
  readonly groupId?: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
}

/** The result of a match, for the studio's backend. */
export interface MatchResult {
  /** Ids of players, the best first. Players in one inner list share a rank. */
  readonly ranking?: readonly (readonly string[])[] | undefined
  /** Any other data. At most 8 KiB as JSON, including the ranking. */
  readonly data?: unknown
}

/** The additional players that a match wants. */
export interface SeatsWanted {
  readonly open: boolean
  /** Number of players by team. Default: as many as have left. */
  readonly teams?: Readonly<Record<string, number>> | undefined
}

/** A match on this server. */
export interface Match {
  readonly id: string
  readonly queue: string
  /** Players by team, in the order of the queue's definition. Without teams, one team named ''. */
  readonly teams: Readonly<Record<string, readonly Player[]>>
  /** Players by id: those who were matched, and those who joined through `seats`. */
  readonly players: ReadonlyMap<string, Player>
  /** The players' common attributes, from the rules `equal` and `overlap`. */
  readonly attributes: Readonly<Record<string, unknown>>
  /** Aborts when Muster has ended the match, or the server must end. */
  readonly signal: AbortSignal
  /**
   * Requests more players, or stops the request. The handler `joined` is called with those who join.
   * @throws {InvalidCall}
   */
  seats(wanted: SeatsWanted): void
  /**
   * Ends the match. Its players may join another one at once. A repeated call does nothing.
   * @returns once Muster has the result. It is sent repeatedly while Muster cannot be reached.
   * @throws {InvalidCall} if the result is invalid. The match then continues.
   */
  over(result?: MatchResult): Promise<void>
}

/** A match with the methods that only the server uses. */
export interface ServedMatch {
  readonly match: Match
  readonly attendance: Attendance
  status: MatchReport['status']
  /** Applies the roster of newer orders. @returns the players who are new or have come back */
  update(order: WireMatch): readonly Player[]
  /**
   * The player who has this seat according to the newest orders. A removed player has none. A new seat invalidates the
   * tokens of the previous one.
   */
  playerOf(claims: JoinClaims): Player | undefined
  report(): MatchReport
  end(reason: string): void
}

const LARGEST_RESULT_BYTES = 8192

/** @param changed reports a change. Resolves when Muster knows it */
export function serveMatch(order: WireMatch, clock: Clock, changed: () => Promise<void>): ServedMatch {
  const attendance = createAttendance(clock, () => void changed())
  const ending = new AbortController()
  const players = new Map<string, Player>()
  /** The tickets of players, if Muster sends them. */
  const ticketOf = new Map<string, string>()
  /** The seats of the players in the newest orders. Undefined if Muster does not send them. */
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
        if (!Number.isInteger(count) || count < 0)
          throw new InvalidCall(`teams.${team}`, `must be a whole number, got ${count}`)
      }
      seats = { open: wanted.open, ...(wanted.teams && { teams: wanted.teams }) }
      void changed()
    },
    over: (given) => {
      if (reported !== undefined) return reported
      checkResult(given, players)
      result = given
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
      // A player who has left this seat is known without waiting for orders.
      if (attendance.hasLeftBy(sub, sid)) return players.get(sub)
      const isGood = seatOf.has(sub) && (seatOf.get(sub) ?? sid) === sid
      return isGood && !attendance.isAbsent(sub) ? players.get(sub) : undefined
    },
    report: () => {
      const statuses = attendance.statuses()
      // A ranking may include players who never came.
      for (const id of result?.ranking?.flat() ?? []) if (!statuses.has(id)) statuses.set(id, 'left')
      return {
        id: order.id,
        status: served.status,
        players: Object.fromEntries(statuses),
        ...(seats && { seats }),
        ...(result && { result }),
      }
    },
    end: (reason) => {
      attendance.close()
      ending.abort(new Error(reason))
    },
  }
  update(order)
  return served
}

/** Rejects what Muster would reject. @throws {InvalidCall} */
function checkResult(result: MatchResult | undefined, players: ReadonlyMap<string, Player>): void {
  const ranked = result?.ranking?.flat() ?? []
  const stranger = ranked.find((id) => !players.has(id))
  if (stranger !== undefined)
    throw new InvalidCall('ranking', `${JSON.stringify(stranger)} is not a player of the match`)
  const twice = ranked.find((id, index) => ranked.indexOf(id) !== index)
  if (twice !== undefined) throw new InvalidCall('ranking', `lists ${JSON.stringify(twice)} twice`)
  if (result?.ranking?.some((ids) => ids.length === 0)) throw new InvalidCall('ranking', 'has a rank without players')
  const bytes = Buffer.byteLength(JSON.stringify(result ?? {}))
  if (bytes > LARGEST_RESULT_BYTES)
    throw new InvalidCall('data', `the result must have at most ${LARGEST_RESULT_BYTES} bytes as JSON, got ${bytes}`)
}
