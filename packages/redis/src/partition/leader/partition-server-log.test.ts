import { type HostingEntry, TicketsGone } from '@muster/matchmaker/internal'
import { expect, test } from 'vitest'
import type { HostingChange, HostingTransaction } from '../store/store.js'
import { createAssignedTickets, createPartitionServerLog } from './partition-server-log.js'

type Written = Extract<HostingChange, { readonly text: string }>

const MATCH: HostingEntry = {
  kind: 'match',
  matchId: 'm1',
  queue: 'duel',
  ticketIds: ['t1', 't2'],
  playerIds: [],
  at: 1,
}
const SERVER: HostingEntry = { kind: 'server', serverId: 'm1', queue: 'duel', tag: 'match-m1', at: 1, bornFor: 'm1' }
const INTENT = [MATCH, SERVER]

function open(unmet: (change: Written) => readonly string[], expected: readonly string[]) {
  const missing: (readonly string[])[] = []
  const written: HostingTransaction[] = []
  let present = expected
  const assigned = createAssignedTickets()
  const serverLog = createPartitionServerLog({
    commits: () => ({
      hosting: async (transaction) => {
        written.push(transaction)
        return unmet(transaction[0] as Written)
      },
    }),
    load: async () => ({ servers: [], matches: [] }),
    expected: () => present,
    assigned,
    missing: async (ids) => {
      missing.push(ids)
    },
  })
  return { serverLog, assigned, missing, written, expect: (ids: readonly string[]) => (present = ids) }
}

test('a leader reads tickets again that other processes took out of a match', async () => {
  const { serverLog, missing } = open(() => ['t1'], ['t1', 't2'])
  await expect(serverLog.append(INTENT)).rejects.toThrow(TicketsGone)
  expect(missing).toEqual([['t1']])
})

test('a leader does not read tickets again that it took out of a match itself', async () => {
  const { serverLog, missing, ...it } = open(() => {
    it.expect([])
    return ['t1', 't2']
  }, ['t1', 't2'])
  await expect(serverLog.append(INTENT)).rejects.toThrow(TicketsGone)
  expect(missing).toEqual([])
})

const ASSIGNED: readonly HostingEntry[] = [
  { kind: 'playing', matchId: 'm1', at: 2 },
  { kind: 'up', serverId: 'm1' },
]

test('a match claims its tickets, which cannot be cancelled once they are assigned', async () => {
  const { serverLog, written } = open(() => [], ['t1', 't2'])
  await serverLog.append(INTENT)
  expect(written.at(-1)).toMatchObject([{ key: 'm:m1', requires: ['t1', 't2'], locks: false }, { key: 's:m1' }])
  await serverLog.append([{ kind: 'created', serverId: 'm1', requestId: 'r1' }])
  expect(written.at(-1)).toMatchObject([{ key: 's:m1', text: expect.stringContaining('r1') }])
  await serverLog.append(ASSIGNED)
  expect(written.at(-1)).toMatchObject([{ key: 'm:m1', requires: ['t1', 't2'], locks: true }, { key: 's:m1' }])
})

test('a ticket cancelled before the assignment is left out, and the other tickets are assigned', async () => {
  const { serverLog, written, ...it } = open(
    ({ requires = [] }) => {
      if (requires.length < 2 || written.length < 2) return []
      return ['t1']
    },
    ['t1', 't2'],
  )
  await serverLog.append(INTENT)
  const assigning = serverLog.append(ASSIGNED)
  await Promise.resolve()
  it.expect(['t2'])
  await assigning
  expect(written.at(-1)).toMatchObject([{ requires: ['t2'], locks: true }, {}])
})

test('no assignment of a match is written if all its tickets are cancelled', async () => {
  const { serverLog, missing, written, ...it } = open(() => (written.length < 2 ? [] : ['t1', 't2']), ['t1', 't2'])
  await serverLog.append(INTENT)
  const assigning = serverLog.append(ASSIGNED)
  await Promise.resolve()
  it.expect([])
  await assigning
  expect(written).toHaveLength(2)
  expect(missing).toEqual([])
})

test('the end of a match in the store ends the tickets of its players, once', async () => {
  const { serverLog, assigned, written } = open(() => [], ['t1'])
  await serverLog.append(INTENT)
  assigned.put({ id: 't1', matchId: 'm1', status: 'HOST_ASSIGNED', players: [{ id: 'ann' }] } as never)
  await serverLog.append([{ kind: 'over', matchId: 'm1' }])
  expect(written.at(-1)).toEqual([{ key: 'm:m1', ends: [{ ticketId: 't1', players: ['ann'] }] }])
  expect(assigned.of('m1')).toEqual([])
  await serverLog.append([{ kind: 'over', matchId: 'm1' }])
  expect(written).toHaveLength(2)
})
