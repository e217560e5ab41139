import type { Clock } from './clock.js'
import { JoinRefused } from './errors.js'
import type { JoinClaims } from './join-token.js'
import type { PlayerStatus } from './wire.js'

/** The players of a match or of a listed server: who is in, who may return, and who has left. */
export type Attendance = ReturnType<typeof createAttendance>

interface Attendant {
  /** The seat with which the player entered; undefined if the player never did. */
  readonly seatId: string | undefined
  /** The `iat` (time of issue) of the player's newest token. */
  readonly iat: number
  /** The status to report. Undefined if the player has left and has got another seat since. */
  status: PlayerStatus | undefined
  /** Aborting it cancels the timer that ends the time within which the player may return. */
  readonly returning: AbortController
}

/** Creates the list of players. @param changed called when a player's status has changed */
export function createAttendance(clock: Clock, changed: () => void) {
  const attendants = new Map<string, Attendant>()

  const set = (playerId: string, attendant: Attendant) => {
    attendants.get(playerId)?.returning.abort()
    attendants.set(playerId, attendant)
    changed()
  }

  return {
    /**
     * Admits a player. A token works once, and again after a `leave` with a time to return. A newer token always works.
     * @throws {JoinRefused} `used`
     */
    enter: ({ sub, sid, iat }: JoinClaims) => {
      const before = attendants.get(sub)
      if (before?.seatId === sid) {
        const isFresh = before.status === 'away' ? iat >= before.iat : iat > before.iat
        if (before.status === 'left' || before.status === undefined || !isFresh) throw new JoinRefused('used')
      }
      set(sub, { seatId: sid, iat, status: 'in', returning: new AbortController() })
    },
    /**
     * Records that a player has left or will not come. Does nothing if the player has already left.
     * @param mayReturnMs milliseconds for which the player's seat is kept.
     */
    leave: (playerId: string, mayReturnMs: number) => {
      const { seatId, iat, status } = attendants.get(playerId) ?? { seatId: undefined, iat: 0, status: 'in' }
      if (status === undefined || status === 'left') return
      const attendant: Attendant = {
        seatId,
        iat,
        status: mayReturnMs > 0 ? 'away' : 'left',
        returning: new AbortController(),
      }
      set(playerId, attendant)
      if (attendant.status === 'left') return
      clock.sleep(mayReturnMs, attendant.returning.signal).then(
        () => {
          attendant.status = 'left'
          changed()
        },
        () => {},
      )
    },
    /**
     * Records that a player who has left gets another seat. The player is not reported again before entering with it.
     */
    expect: (playerId: string) => {
      const before = attendants.get(playerId)
      if (before?.status === 'left') before.status = undefined
    },
    /** Returns true if the player is in, or has been in. */
    has: (playerId: string) => attendants.has(playerId),
    /**
     * Returns true if the player is recorded as left without having come. None of the player's tokens is valid until
     * the next seat.
     */
    isAbsent: (playerId: string) => {
      const one = attendants.get(playerId)
      return one?.status === 'left' && one.seatId === undefined
    },
    /** Returns true if the player entered with this seat and has left for good, whatever seat the player has now. */
    hasLeftBy: (playerId: string, seatId: string) => {
      const one = attendants.get(playerId)
      return one?.seatId === seatId && (one.status === 'left' || one.status === undefined)
    },
    /** Returns the statuses by player id. A Map is used, because a player's id may be `constructor`. */
    statuses: (): Map<string, PlayerStatus> =>
      new Map([...attendants].flatMap(([id, { status }]) => (status === undefined ? [] : [[id, status] as const]))),
    /** Ends all timers. */
    close: () => {
      for (const { returning } of attendants.values()) returning.abort()
    },
  }
}
