import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { LeaseLost } from '../partition-errors.js'
import type { Commit, CommitOutcome } from '../store/store.js'
import { createCommits } from './commits.js'

const DONE: CommitOutcome = { refused: [], unmet: [] }

function open(commit: (given: Commit, tries: number) => Promise<CommitOutcome> = async () => DONE, isDurable = false) {
  const clock = createManualClock()
  const written: Commit[] = []
  const problems: unknown[] = []
  const refused: string[] = []
  let isLost = false
  const commits = createCommits({
    commit: (given) => {
      written.push(given)
      return commit(given, written.length)
    },
    refused: (ticketId) => refused.push(ticketId),
    isLeaseLost: (error) => error instanceof LeaseLost,
    deposed: () => {
      isLost = true
    },
    isLost: () => isLost,
    isDurable,
    problem: (error) => problems.push(error),
    clock,
    random: () => 0.5,
  })
  return { clock, commits, written, problems, refused, isLost: () => isLost }
}

test('changes made in one event loop turn are one commit, with the newest header of each ticket', async () => {
  const { clock, commits, written } = open()
  commits.header({ ticketId: 't1', header: 'M2' })
  commits.header({ ticketId: 't2', header: 'M2' })
  commits.header({ ticketId: 't1', header: 'S3' })
  await clock.until(commits.flushed())
  expect(written).toMatchObject([
    {
      headers: [
        { ticketId: 't2', header: 'M2' },
        { ticketId: 't1', header: 'S3' },
      ],
    },
  ])
})

test('a commit whose answer is lost is repeated unchanged, before a commit of later changes', async () => {
  const { clock, commits, written, problems, isLost } = open(async (_, tries) => {
    if (tries < 3) throw new Error('lost')
    return DONE
  })
  const first = commits.hosting([{ key: 'm:m1', text: 'intent' }])
  await clock.advance(0)
  commits.header({ ticketId: 't1', header: 'M2' })
  expect(await clock.until(first)).toEqual([])
  await clock.until(commits.flushed())
  expect(written).toHaveLength(4)
  expect(written[1]).toEqual(written[0])
  expect(written[2]).toEqual(written[0])
  expect(written[3]).toMatchObject({ headers: [{ ticketId: 't1' }] })
  expect([problems.length, isLost()]).toEqual([2, false])
})

test('a commit returns for each match the tickets that had left it, and reports refused ticket headers', async () => {
  const { clock, commits, refused } = open(async () => ({
    refused: [{ ticketId: 't3', header: 'C4' }],
    unmet: [{ matchId: 'm2', ticketIds: ['t2'] }],
  }))
  const servers = ['m1', 'm2'].map((matchId) => commits.hosting([{ key: `m:${matchId}`, text: 'intent' }]))
  expect(await clock.until(Promise.all(servers))).toEqual([[], ['t2']])
  expect(refused).toEqual(['t3'])
})

test.each(['wait', 'do not wait'])('commits of server records %s for replicas, as configured', async (how) => {
  const isDurable = how === 'wait'
  const { clock, commits, written } = open(undefined, isDurable)
  commits.header({ ticketId: 't1', header: 'M2' })
  await clock.until(commits.flushed())
  await clock.until(commits.hosting([{ key: 'm:m1', text: 'intent' }]))
  expect(written.map(({ durable }) => durable)).toEqual([false, isDurable])
})

test('once another process leads, a deposed leader writes no more commits and rejects those that wait', async () => {
  const { clock, commits, written, isLost } = open(async () => {
    throw new LeaseLost('eu')
  })
  const record = commits.hosting([{ key: 'm:m1', text: 'intent' }])
  await expect(clock.until(record)).rejects.toThrow('Another process leads the partition now.')
  expect([written.length, isLost()]).toEqual([1, true])
  const late = commits.flushed().catch((error: Error) => error.message)
  commits.stop(new Error('stopped'))
  await clock.until(late)
  await expect(commits.hosting([{ key: 'm:m1', text: 'intent' }])).rejects.toThrow('stopped')
  expect(written).toHaveLength(1)
})

test('a deposed leader also rejects the commits that waited for the one that failed', async () => {
  const { clock, commits } = open(async () => {
    await clock.sleep(100)
    throw new LeaseLost('eu')
  })
  const first = commits.hosting([{ key: 'm:m1', text: 'intent' }])
  await clock.advance(50)
  const next = commits.hosting([{ key: 'm:m2', text: 'intent' }])
  const outcomes = await clock.until(Promise.allSettled([first, next, commits.flushed()]))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
})

test('an RPC reply is written together with the changes before it, or once replicas have them', async () => {
  for (const isDurable of [false, true]) {
    const { commits, written } = open(async () => DONE, isDurable)
    commits.note('k', 'text')
    commits.reply('a', 'answer')
    await commits.flushed()
    const told = written.map((one) => [one.notes?.length ?? 0, one.replies?.length ?? 0, one.durable === true])
    expect(told).toEqual(
      isDurable
        ? [
            [1, 0, true],
            [0, 1, false],
          ]
        : [[1, 1, false]],
    )
  }
})

test('an RPC reply without changes waits for no replica', async () => {
  const { commits, written } = open(async () => DONE, true)
  commits.reply('a', 'answer')
  await commits.flushed()
  expect(written).toMatchObject([{ replies: [{ follower: 'a', text: 'answer' }], durable: false }])
})

test('an RPC reply is not written before changes made while another commit was in flight', async () => {
  const { clock, commits, written } = open()
  commits.note('k', 'first')
  await clock.advance(0)
  commits.note('k', 'second')
  commits.reply('a', 'answer')
  await clock.until(commits.flushed())
  const last = written.at(-1)
  expect([last?.notes, last?.replies?.length]).toEqual([[{ key: 'k', text: 'second' }], 1])
})
