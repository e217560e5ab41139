import type { Entry } from '../kernel/model.js'
import type { Facts } from '../rules/facts.js'
import type { Lane } from './lane.js'
import { NOWHERE, type TicketRecord } from './record.js'

/** A ticket's presence in the pools of its lanes; `index` is that of the lane among the ticket's. */

const laneOf = (record: TicketRecord, index: number): Lane => record.lanes[index] as Lane

export const isIn = (record: TicketRecord, lane: Lane): boolean => {
  const index = record.lanes.indexOf(lane)
  return index >= 0 && record.slots[index] !== NOWHERE
}

/** @throws {InvalidTicket} if the queue does not take it as it is. */
export function enter(record: TicketRecord, index: number, known?: Entry<Facts>): void {
  if (record.slots[index] !== NOWHERE) return
  const lane = laneOf(record, index)
  const slot = lane.pool.add(known ?? lane.compiled.entryOf(record))
  record.slots[index] = slot
  lane.records[slot] = record
  if (lane.queue.mode === 'arrival') arrive(record, lane)
}

function arrive(record: TicketRecord, lane: Lane): void {
  lane.arrivals.add(record)
  if (lane.arrivals.size === 1) lane.arrived(lane)
}

function leave(record: TicketRecord, index: number): void {
  const slot = record.slots[index] as number
  if (slot === NOWHERE) return
  const lane = laneOf(record, index)
  lane.pool.remove(slot)
  lane.records[slot] = undefined
  lane.arrivals.delete(record)
  record.slots[index] = NOWHERE
}

export function leaveAll(record: TicketRecord): void {
  for (let index = 0; index < record.lanes.length; index++) leave(record, index)
}

export function leaveOthers(record: TicketRecord, lane: Lane): void {
  for (const [index, other] of record.lanes.entries()) if (other !== lane) leave(record, index)
}

/** It waits in only those of its lanes any more. */
export function keepLanes(record: TicketRecord, keep: (lane: Lane) => boolean): void {
  if (record.lanes.every(keep)) return
  const kept: number[] = []
  for (const [index, lane] of record.lanes.entries()) {
    if (keep(lane)) kept.push(index)
    else leave(record, index)
  }
  record.slots = kept.map((index) => record.slots[index] as number)
  record.lanes = kept.map((index) => laneOf(record, index))
}

/** The queues are in operation anew, the pools of before are not used any more. */
export function moveTo(record: TicketRecord, lanes: readonly Lane[]): void {
  record.lanes = lanes
  record.slots = lanes.map(() => NOWHERE)
}
