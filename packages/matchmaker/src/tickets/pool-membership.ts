import type { Entry, Slot } from '@muster/kernel'
import type { Facts } from '../queues/rule-parts/rule-checks.js'
import { NOWHERE, type QueueRuntime, type TicketRecord } from './records.js'

/** A ticket's membership in the pools of its runtimes. `index` counts the ticket's runtimes. */

/** The list of runtimes that all tickets of this queue alone share. */
const runtimeAlone = (runtimes: readonly QueueRuntime[]): readonly QueueRuntime[] =>
  runtimes[0]?.alone.runtimes ?? runtimes

const runtimeOf = (record: TicketRecord, index: number): QueueRuntime => record.runtimes[index] as QueueRuntime

export const slotIn = ({ slot, moreSlots }: TicketRecord, index: number): Slot =>
  index === 0 ? slot : (moreSlots?.[index - 1] ?? NOWHERE)

function setSlot(record: TicketRecord, index: number, slot: Slot): void {
  if (index === 0) record.slot = slot
  else (record.moreSlots ??= record.runtimes.slice(1).map(() => NOWHERE))[index - 1] = slot
}

export const isIn = (record: TicketRecord, runtime: QueueRuntime): boolean => {
  const index = record.runtimes.indexOf(runtime)
  return index >= 0 && slotIn(record, index) !== NOWHERE
}

/** @throws {InvalidTicket} if the queue refuses the ticket. */
export function enter(record: TicketRecord, index: number, known?: Entry<Facts>): void {
  if (slotIn(record, index) !== NOWHERE) return
  const runtime = runtimeOf(record, index)
  const slot = runtime.pool.add(known ?? runtime.entryOf(record))
  setSlot(record, index, slot)
  runtime.records[slot] = record
  if (runtime.queue.mode === 'arrival') arrive(record, runtime)
}

function arrive(record: TicketRecord, runtime: QueueRuntime): void {
  runtime.arrivals.add(record)
  if (runtime.arrivals.size === 1) runtime.arrived(runtime)
}

function leave(record: TicketRecord, index: number): void {
  const slot = slotIn(record, index)
  if (slot === NOWHERE) return
  const runtime = runtimeOf(record, index)
  runtime.pool.remove(slot)
  runtime.records[slot] = undefined
  if (runtime.queue.mode === 'arrival') runtime.arrivals.delete(record)
  setSlot(record, index, NOWHERE)
}

export function leaveAll(record: TicketRecord): void {
  for (let index = 0; index < record.runtimes.length; index++) leave(record, index)
}

export function leaveOthers(record: TicketRecord, runtime: QueueRuntime): void {
  for (let index = 0; index < record.runtimes.length; index += 1)
    if (record.runtimes[index] !== runtime) leave(record, index)
}

/** Takes the ticket out of the other runtimes. */
export function keepRuntimes(record: TicketRecord, keep: (runtime: QueueRuntime) => boolean): void {
  if (record.runtimes.every(keep)) return
  const kept: number[] = []
  for (const [index, runtime] of record.runtimes.entries()) {
    if (keep(runtime)) kept.push(index)
    else leave(record, index)
  }
  const slots = kept.map((index) => slotIn(record, index))
  record.runtimes = kept.map((index) => runtimeOf(record, index))
  for (const [index, slot] of slots.entries()) setSlot(record, index, slot)
}

/** Moves the ticket to new runtimes, whose pools replace the old ones. */
export function moveTo(record: TicketRecord, runtimes: readonly QueueRuntime[]): void {
  record.runtimes = runtimes.length === 1 ? runtimeAlone(runtimes) : runtimes
  record.slot = NOWHERE
  record.moreSlots = undefined
}
