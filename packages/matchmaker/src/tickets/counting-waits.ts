import type { WaitCell } from '../waits/wait-cell.js'
import { isPrivate } from './private-matches.js'
import type { QueueRuntime, TicketRecord } from './records.js'

/**
 * Counts a searching ticket among those that wait in its queues; it may be counted already. One of a private match
 * waits for no other players.
 */
export function beginWait(record: TicketRecord, now: number): void {
  if (isPrivate(record)) return
  const cells = cellsOf(record, now)
  if (record.waits !== undefined) {
    if (isSame(record.waits, cells)) return
    endWait(record, now)
  }
  record.waits = cells
  for (const cell of cells) cell.enter(record.createdAt, record.players.length, now)
}

/** Counts it no more. @param matchedIn the queue that has found a match for it. */
export function endWait(record: TicketRecord, now: number, matchedIn?: QueueRuntime): void {
  const { waits, createdAt, players, runtimes } = record
  if (waits === undefined) return
  // There is a cell for each runtime, in their order.
  const matched = matchedIn === undefined ? undefined : waits[runtimes.indexOf(matchedIn)]
  for (const cell of waits) cell.leave(createdAt, players.length, now, cell === matched)
  record.waits = undefined
}

const kindOf = ({ place, players }: TicketRecord) => ({ place, players: players.length })

function cellsOf(record: TicketRecord, now: number): readonly WaitCell[] {
  const { runtimes } = record
  const kind = kindOf(record)
  return runtimes.length === 1
    ? (runtimes[0] as QueueRuntime).waits.cellOf(kind, now).alone
    : runtimes.map(({ waits }) => waits.cellOf(kind, now))
}

const isSame = (cells: readonly WaitCell[], others: readonly WaitCell[]) =>
  cells.length === others.length && cells.every((cell, index) => cell === others[index])
