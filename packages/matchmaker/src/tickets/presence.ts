import type { Entry, Slot } from '../kernel/model.js'
import type { Facts } from '../rules/facts.js'
import type { Lane } from './lane.js'
import { NOWHERE, type TicketRecord } from './record.js'

/** A ticket's presence in the pools of its lanes; `index` is that of the lane among the ticket's. */

/** The list that all tickets share that wait in no other queue. */
const laneAlone = (lanes: readonly Lane[]): readonly Lane[] => lanes[0]?.alone.lanes ?? lanes

const laneOf = (record: TicketRecord, index: number): Lane => record.lanes[index] as Lane

export const slotIn = ({ slot, moreSlots }: TicketRecord, index: number): Slot =>
  index === 0 ? slot : (moreSlots?.[index - 1] ?? NOWHERE)

function setSlot(record: TicketRecord, index: number, slot: Slot): void {
  if (index === 0) record.slot = slot
  else (record.moreSlots ??= record.lanes.slice(1).map(() => NOWHERE))[index - 1] = slot
}

export const isIn = (record: TicketRecord, lane: Lane): boolean => {
  const index = record.lanes.indexOf(lane)
  return index >= 0 && slotIn(record, index) !== NOWHERE
}

/** @throws {InvalidTicket} if the queue does not take it as it is. */
export function enter(record: TicketRecord, index: number, known?: Entry<Facts>): void {
  if (slotIn(record, index) !== NOWHERE) return
  const lane = laneOf(record, index)
  const slot = lane.pool.add(known ?? lane.compiled.entryOf(record))
  setSlot(record, index, slot)
  lane.records[slot] = record
  if (lane.queue.mode === 'arrival') arrive(record, lane)
}

function arrive(record: TicketRecord, lane: Lane): void {
  lane.arrivals.add(record)
  if (lane.arrivals.size === 1) lane.arrived(lane)
}

function leave(record: TicketRecord, index: number): void {
  const slot = slotIn(record, index)
  if (slot === NOWHERE) return
  const lane = laneOf(record, index)
  lane.pool.remove(slot)
  lane.records[slot] = undefined
  if (lane.queue.mode === 'arrival') lane.arrivals.delete(record)
  setSlot(record, index, NOWHERE)
}

export function leaveAll(record: TicketRecord): void {
  for (let index = 0; index < record.lanes.length; index++) leave(record, index)
}

export function leaveOthers(record: TicketRecord, lane: Lane): void {
  for (let index = 0; index < record.lanes.length; index += 1) if (record.lanes[index] !== lane) leave(record, index)
}

/** It waits in only those of its lanes any more. */
export function keepLanes(record: TicketRecord, keep: (lane: Lane) => boolean): void {
  if (record.lanes.every(keep)) return
  const kept: number[] = []
  for (const [index, lane] of record.lanes.entries()) {
    if (keep(lane)) kept.push(index)
    else leave(record, index)
  }
  const slots = kept.map((index) => slotIn(record, index))
  record.lanes = kept.map((index) => laneOf(record, index))
  for (const [index, slot] of slots.entries()) setSlot(record, index, slot)
}

/** The queues are in operation anew, the pools of before are not used any more. */
export function moveTo(record: TicketRecord, lanes: readonly Lane[]): void {
  record.lanes = lanes.length === 1 ? laneAlone(lanes) : lanes
  record.slot = NOWHERE
  record.moreSlots = undefined
}
