import { createManualClock } from '@muster/core/clock'
import type { PresenceReport } from '@muster/matchmaker'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NoLeader } from '../partition-errors.js'
import { type PackedPresence, unpackPresence } from '../rpc.js'
import { createPresenceBatches, MOST_HELD } from './presence.js'

function open(tell: (reports: readonly PackedPresence[]) => Promise<void> = async () => {}) {
  const clock = createManualClock()
  const told: (readonly PackedPresence[])[] = []
  const problems: unknown[] = []
  const presence = createPresenceBatches({
    tell: async (reports) => {
      told.push(reports)
      await tell(reports)
    },
    clock,
    problem: (error) => problems.push(error),
  })
  return { clock, told, problems, presence }
}

test('players seen within a second are reported once to the leader, in RPC requests of bounded length', async () => {
  const report = fc.record({
    ticketId: fc.stringMatching(/^[\w-]{1,64}$/),
    playerId: fc.option(fc.string({ unit: 'binary', minLength: 1, maxLength: 128 }), { nil: undefined }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(report, { maxLength: 2000, size: 'max' }), async (reports: PresenceReport[]) => {
      const { clock, told, presence } = open()
      presence.note(reports)
      presence.note(reports.slice(0, 10))
      expect(told).toEqual([])
      await clock.advance(1000)
      expect(told.flat().map(unpackPresence)).toEqual(
        Array.from(new Map(reports.map((one) => [JSON.stringify([one.ticketId, one.playerId]), one])).values()),
      )
      for (const piece of told) expect(Buffer.byteLength(JSON.stringify(piece))).toBeLessThan(250_000)
      expect(clock.sleepers).toBe(0)
    }),
    { numRuns: 30 },
  )
})

test('without a leader presence reports are kept once per player, up to a limit, and cause no problem', async () => {
  let answer = (_error: Error) => {}
  const { clock, told, problems, presence } = open(() => new Promise((_, reject) => (answer = reject)))
  const many = Array.from({ length: MOST_HELD + 1000 }, (_, index) => ({ ticketId: `t${index}` }))
  presence.note(many.slice(0, 10))
  await clock.advance(1000)
  for (let times = 0; times < 3; times += 1) {
    presence.note(many)
    await clock.advance(1000)
  }
  expect(told).toHaveLength(1)
  answer(new NoLeader('nobody leads'))
  await clock.advance(1000)
  expect(told.flat()).toHaveLength(10 + MOST_HELD)
  expect(problems).toEqual([])
  answer(new Error('broken'))
  await clock.advance(0)
  expect(problems).toMatchObject([{ message: 'broken' }])
})

test('a presence reporter sends no report after it is closed', async () => {
  const { clock, told, presence } = open()
  presence.note([{ ticketId: 'ann' }])
  const closed = presence.close()
  await clock.advance(5000)
  await closed
  presence.note([{ ticketId: 'ann' }])
  await clock.advance(5000)
  expect(told).toEqual([])
})
