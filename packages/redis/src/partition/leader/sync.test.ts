import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { LeaseLost } from '../partition-errors.js'
import { createSync } from './standby.js'

function open(answer: (id: string) => Promise<void> = async () => {}) {
  const clock = createManualClock()
  const marks: string[] = []
  const problems: unknown[] = []
  const sync = createSync({
    store: {
      commit: async (_token, { replies: [{ text: id } = { text: '' }] = [] }) => {
        marks.push(id)
        await answer(id)
        return { refused: [], unmet: [] }
      },
    },
    follower: 'a',
    newId: () => '1',
    clock,
    problem: (error) => problems.push(error),
  })
  const ending = new AbortController()
  let isReached = false
  const reached = sync.reached({ token: '1:a', signal: ending.signal }).then(() => {
    isReached = true
  })
  reached.catch(() => {})
  return { clock, marks, problems, sync, ending, reached, isReached: () => isReached }
}

test('a new leader is up to date once it has read its own sync entry and all other entries of the stream', async () => {
  const { clock, sync, reached, isReached } = open()
  await clock.advance(0)
  sync.receive({ replies: ['other'], isBehind: false })
  await clock.advance(10)
  expect(isReached()).toBe(false)
  sync.receive({ replies: ['sync:1'], isBehind: true })
  sync.receive({ replies: [], isBehind: true })
  await clock.advance(10)
  expect(isReached()).toBe(false)
  sync.receive({ replies: [], isBehind: false })
  await reached
  expect(clock.sleepers).toBe(0)
})

test('a new leader writes its sync entry to the stream again until it reads that entry', async () => {
  let tries = 0
  const { clock, marks, problems, sync, reached } = open(async () => {
    tries += 1
    if (tries === 1) throw new Error('lost')
  })
  await clock.advance(450)
  expect(marks).toEqual(['sync:1', 'sync:1', 'sync:1'])
  expect(problems).toMatchObject([{ message: 'lost' }])
  sync.receive({ replies: ['sync:1'], isBehind: false })
  await reached
})

test('a new leader that loses the lease rejects the wait for its sync entry with LeaseLost', async () => {
  const { reached, problems } = open(async () => {
    throw new LeaseLost('eu')
  })
  await expect(reached).rejects.toThrow(LeaseLost)
  expect(problems).toEqual([])
})

test('the end of the lease ends the wait for a sync entry, even while the entry is being sent', async () => {
  let sent = () => {}
  const sending = new Promise<void>((resolve) => {
    sent = resolve
  })
  const { clock, ending, reached } = open(() => sending)
  await clock.advance(0)
  ending.abort(new Error('the lease is lost'))
  // Time in which Node.js would report an unhandled rejection.
  await clock.advance(10)
  sent()
  await expect(reached).rejects.toThrow('the lease is lost')
  expect(clock.sleepers).toBe(0)
})
