import type { Clock } from './clock.js'
import { JoinRefused } from './errors.js'
import type { JoinClaims } from './join-token.js'
import type { PlayerStatus } from './wire.js'

/** Who is on a match or a listed server, who may return, and who has left. */
export type Attendance = ReturnType<typeof createAttendance>

interface Attendant {
  /** Undefined: the player never came. */
  readonly seatId: string | undefined
  /** The `iat` of the newest token. */
  readonly iat: number
  /** Undefined: the player has left and has got another seat since. */
  status: PlayerStatus | undefined
  /** Cancels the timer of the time to return. */
  readonly returning: AbortController
}

/** @param changed called when a status has changed */
export function createAttendance(clock: Clock, changed: () => void) {
  const attendants = new Map<string, Attendant>()

  const set = (playerId: string, attendant: Attendant) => {
    attendants.get(playerId)?.returning.abort()
    attendants.set(playerId, attendant)
    changed()
  }

  return {
    /**
     * Lets a player in. A token works once, and again after `leave` with a time to return. A newer token always works.
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
     * Called when a player has left or will not come. Does nothing for a player who has left already.
     * @param mayReturnMs their seat is kept for this many milliseconds.
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
    /** Called when a player who has left gets another seat. Nothing is reported about them until they enter with it. */
    expect: (playerId: string) => {
      const before = attendants.get(playerId)
      if (before?.status === 'left') before.status = undefined
    },
    /** True if the player is or was in. */
    has: (playerId: string) => attendants.has(playerId),
    /** True if the player left without having come. Until the next seat, none of the player's tokens is valid. */
    isAbsent: (playerId: string) => {
      const one = attendants.get(playerId)
      return one?.status === 'left' && one.seatId === undefined
    },
    /** True if the player entered with this seat and has left for good, whatever seat they have now. */
    hasLeftBy: (playerId: string, seatId: string) => {
      const one = attendants.get(playerId)
      return one?.seatId === seatId && (one.status === 'left' || one.status === undefined)
    },
    /** By id. A Map instead of an object, because a player's id may be `constructor`. */
    statuses: (): Map<string, PlayerStatus> =>
      new Map([...attendants].flatMap(([id, { status }]) => (status === undefined ? [] : [[id, status] as const]))),
    /** Ends its timers. */
    close: () => {
      for (const { returning } of attendants.values()) returning.abort()
    },
  }
}
