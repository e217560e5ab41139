import type { TicketRecord } from './records.js'
import type { CancelReason } from './ticket.js'

/** The tickets of private matches that are not assigned yet: those of one match begin together, or not at all. */
export interface PrivateMatches {
  /** Adds a ticket, by its `privateSeat`. */
  add(record: TicketRecord): void
  /** The ticket is not kept any more; the others of its match go on waiting for it. */
  forget(record: TicketRecord): void
  /** The ticket has ended, and with it its private match. Returns the other tickets, which nothing is known of now. */
  end(record: TicketRecord): readonly TicketRecord[]
  /** The tickets of each private match that waits for a server, in the order in which the matches were made. */
  waiting(): Iterable<readonly TicketRecord[]>
}

const NONE: readonly never[] = []

export function createPrivateMatches(): PrivateMatches {
  const byId = new Map<string, readonly TicketRecord[]>()
  const idOf = ({ privateSeat }: TicketRecord) => privateSeat?.id ?? ''
  const without = (record: TicketRecord) => (byId.get(idOf(record)) ?? NONE).filter((other) => other !== record)

  return {
    add: (record) => void byId.set(idOf(record), [...without(record), record]),
    forget: (record) => {
      const others = without(record)
      if (others.length === 0) byId.delete(idOf(record))
      else byId.set(idOf(record), others)
    },
    end: (record) => {
      if (byId.get(idOf(record))?.includes(record) !== true) return NONE
      const others = without(record)
      byId.delete(idOf(record))
      return others
    },
    waiting: function* () {
      for (const records of byId.values()) {
        const isComplete = records.length === records[0]?.privateSeat?.tickets
        if (isComplete && records.every(isWaiting)) yield records
      }
    },
  }
}

/** Reasons for which all tickets of a private match are cancelled alike. */
const SHARED: ReadonlySet<CancelReason> = new Set(['expired', 'attempts', 'closed', 'refused', 'handed-over'])

/** Why the other tickets of a private match are cancelled. @param reason why the first of them was. */
export const reasonOfOthers = (reason: CancelReason): CancelReason => (SHARED.has(reason) ? reason : 'dissolved')

export const isPrivate = ({ privateSeat }: TicketRecord): boolean => privateSeat !== undefined

const isWaiting = ({ status, waitingFor }: TicketRecord) => status === 'SEARCHING' && waitingFor === 'servers'
