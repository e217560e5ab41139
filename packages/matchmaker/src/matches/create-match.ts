import type { Random } from '@muster/core/clock'
import {
  checkMatch,
  inMatch,
  type QueueRuntime,
  ticketOf,
  type TicketRecord,
  type TicketStore,
  countPlayers,
} from '../tickets/index.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import { privateQueue } from './match.js'
import type { Matchmaker } from './matchmaker.js'
import type { Group } from './rounds.js'

interface CreatingMatches {
  readonly tickets: Pick<TicketStore, 'createTogether' | 'find'>
  /** By name. */
  readonly runtimes: () => ReadonlyMap<string, QueueRuntime>
  /** Begins private matches that wait for a server, if servers may be created now. */
  readonly begin: () => void
  readonly random: Random
  /** @throws {MatchmakerClosed} */
  readonly assertNotClosed: () => void
}

/** Creates the command that makes a match of given players. */
export function createMatchCreation(options: CreatingMatches): Pick<Matchmaker, 'createMatch'> {
  const { tickets, runtimes, begin, random, assertNotClosed } = options
  return {
    createMatch: (input) => {
      assertNotClosed()
      const match = checkMatch(input, runtimes(), random)
      const created = inMatch(undefined, () => tickets.createTogether(match.tickets))
      begin()
      return {
        id: match.id,
        tickets: created.map((ticket) => {
          const record = tickets.find(ticket.id)
          return record === undefined ? ticket : ticketOf(record)
        }),
      }
    },
  }
}

/**
 * Begins the private matches that wait for a server, in the order in which they were made, as many as there may be.
 * They go before matches that are found by rules. Each promise resolves when the intent of its match is in the store.
 */
export type BeginPrivate = (now: number) => readonly Promise<void>[]

interface PrivateRoundsOptions {
  readonly tickets: Pick<TicketStore, 'privateMatches' | 'cancel'>
  readonly lifecycle: Pick<MatchLifecycle, 'room' | 'begin'>
}

export function createBeginPrivate({ tickets, lifecycle }: PrivateRoundsOptions): BeginPrivate {
  return (now) => {
    const begun: Promise<void>[] = []
    for (const records of tickets.privateMatches()) {
      const group = groupOf(records)
      // Its queue is another one since `reconfigure`.
      if (group === undefined) tickets.cancel(records[0] as TicketRecord, 'refused', now)
      else if (group.runtime.isPaused) continue
      else if (lifecycle.room(now, group.runtime.queue.pool) <= 0) break
      else begun.push(lifecycle.begin(group, now) ?? Promise.resolve())
    }
    return begun
  }
}

/** The tickets as a group; undefined if the queue has no such teams. */
function groupOf(records: readonly TicketRecord[]): Group | undefined {
  const [first] = records
  const [runtime] = first?.runtimes ?? []
  if (first?.privateSeat === undefined || runtime === undefined) return undefined
  const teams = records.map((record) => teamOf(record, runtime))
  if (teams.includes(-1)) return undefined
  const queue = privateQueue(runtime.queue, first.privateSeat)
  return { runtime, records, teams, queue, backfill: undefined, expansionMs: 0 }
}

/** Index of the ticket's team, -1 if the queue has none of that name that is large enough. */
const teamOf = (record: TicketRecord, { compiled }: QueueRuntime): number =>
  compiled.model.teams.findIndex(({ name, max }) => name === record.privateSeat?.team && max >= countPlayers([record]))
