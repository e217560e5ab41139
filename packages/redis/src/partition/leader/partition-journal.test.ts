import { TicketsGone, type JournalEntry } from '@muster/matchmaker/partition'
import { expect, test } from 'vitest'
import type { RecordChange } from '../store/store.js'
import { createAssignedTickets } from './assigned-tickets.js'
import { createPartitionJournal } from './partition-journal.js'

const INTENT = { kind: 'intent', matchId: 'm1', at: 1, tickets: ['t1', 't2'] } as unknown as JournalEntry

function open(unmet: (change: RecordChange) => readonly string[], expected: readonly string[]) {
  const missing: (readonly string[])[] = []
  const written: RecordChange[] = []
  let present = expected
  const journal = createPartitionJournal({
    commits: () => ({
      record: async (change) => {
        written.push(change)
        return unmet(change)
      },
    }),
    load: async () => [],
    expected: () => present,
    assigned: createAssignedTickets(),
    missing: async (ids) => {
      missing.push(ids)
    },
  })
  return { journal, missing, written, expect: (ids: readonly string[]) => (present = ids) }
}

test('tickets that others took out of a match are looked into', async () => {
  const { journal, missing } = open(() => ['t1'], ['t1', 't2'])
  await expect(journal.append(INTENT)).rejects.toThrow(TicketsGone)
  expect(missing).toEqual([['t1']])
})

test('tickets that the leader itself has taken out of a match meanwhile are as it left them', async () => {
  const { journal, missing, ...it } = open(() => {
    it.expect([])
    return ['t1', 't2']
  }, ['t1', 't2'])
  await expect(journal.append(INTENT)).rejects.toThrow(TicketsGone)
  expect(missing).toEqual([])
})
