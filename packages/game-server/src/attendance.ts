import type { Clock } from './clock.js'
import { JoinRefused } from './errors.js'
import type { JoinClaims } from './join-token.js'
import type { PlayerStatus } from './wire.js'

/** Who is on a match or a listed server, who may return, and who has left. */
export type Attendance = ReturnType<typeof createAttendance>

interface Attendant {
  /** Undefined: they never came. */
  readonly seatId: string | undefined
  /** Of the newest token. */
  readonly iat: number
  /** Undefined: they have left, and another seat since. */
  status: PlayerStatus | undefined
  /** Ends the time to return. */
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
     * Lets a player in. A token lets in once; the same again after `leave` with a time to return, and a fresh one
     * always.
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
     * A player has left, or will not come. Does nothing for one who has left already.
     * @param mayReturnMs their seat is kept for so many milliseconds.
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
    /** A player who has left has another seat: nothing is said of them until they enter by it. */
    expect: (playerId: string) => {
      const before = attendants.get(playerId)
      if (before?.status === 'left') before.status = undefined
    },
    /** Whether they are in, or were. */
    has: (playerId: string) => attendants.has(playerId),
    /** Whether they have left without having come: until they have another seat, no token of theirs is good. */
    isAbsent: (playerId: string) => {
      const one = attendants.get(playerId)
      return one?.status === 'left' && one.seatId === undefined
    },
    /** Whether they were let in by this seat and have left for good, whatever seat they have now. */
    hasLeftBy: (playerId: string, seatId: string) => {
      const one = attendants.get(playerId)
      return one?.seatId === seatId && (one.status === 'left' || one.status === undefined)
    },
    /** By id. No object, since a player's id may be `constructor`. */
    statuses: (): Map<string, PlayerStatus> =>
      new Map([...attendants].flatMap(([id, { status }]) => (status === undefined ? [] : [[id, status] as const]))),
    /** Ends its timers. */
    close: () => {
      for (const { returning } of attendants.values()) returning.abort()
    },
  }
}
