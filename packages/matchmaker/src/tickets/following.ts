import type { TicketRecord } from './records.js'
import type { OutOfQueues } from './searching.js'

/**
 * While another process leads, this one only keeps its tickets ready. What would change a ticket is put off: the leader
 * makes that change, or this process does, when it leads.
 */
export interface Following {
  /**
   * Whether another process leads; then the ticket is remembered as one to be changed.
   * @param out why no queue takes the ticket any more.
   */
  putsOff(record: TicketRecord, out?: OutOfQueues): boolean
  isOn(): boolean
  /** The ticket is not kept any more, or was loaded again. */
  forget(record: TicketRecord): void
  /** From now on this process leads. Returns the tickets whose changes were put off, and the first `out` of each. */
  end(): readonly (readonly [TicketRecord, OutOfQueues | undefined])[]
}

export function createFollowing(): Following {
  const changing = new Map<TicketRecord, OutOfQueues | undefined>()
  let isOn = true
  return {
    putsOff: (record, out) => {
      if (isOn) changing.set(record, changing.get(record) ?? out)
      return isOn
    },
    isOn: () => isOn,
    forget: (record) => void changing.delete(record),
    end: () => {
      isOn = false
      const put = [...changing]
      changing.clear()
      return put
    },
  }
}
