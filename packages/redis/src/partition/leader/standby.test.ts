import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import type { Inbox, TicketChange } from '../store/store.js'
import { createStandby } from './standby.js'
import type { Replica } from './replica.js'

const NOTHING: Inbox = { cursor: '1', entries: [], gap: false, isBehind: false }

function open(changes: Partial<Replica> = {}, inbox: () => Promise<Inbox> = async () => NOTHING) {
  const clock = createManualClock()
  const problems: unknown[] = []
  let calls = 0
  const replica = {
    load: async () => {},
    changed: async () => {},
    happened: async () => [],
    prune: async () => {},
    abandon: () => {},
    ...changes,
  } as unknown as Replica
  const standby = createStandby({
    store: {
      inbox: async (after, { signal }) => {
        calls += 1
        signal?.throwIfAborted()
        if (after !== undefined) await clock.sleep(1000, signal)
        return inbox()
      },
    },
    replica,
    clock,
    problem: (error) => problems.push(error),
  })
  return { clock, problems, standby, calls: () => calls }
}

test('a standby keeps only the newest change of each ticket in its backlog while Redis is slow', async () => {
  let go = () => {}
  const slow = new Promise<void>((resolve) => {
    go = resolve
  })
  const taken: (readonly TicketChange[])[] = []
  const { clock, standby } = open({
    changed: async (tickets) => {
      taken.push(tickets)
      await slow
    },
  })
  await clock.advance(0)
  const change = (version: number): TicketChange => ({ ticketId: 't1', letter: 'M', version })
  standby.receive([change(2)])
  await clock.advance(0)
  for (let version = 3; version <= 1000; version += 1) standby.receive([change(version)])
  standby.receive([{ ticketId: 't2', letter: 'C', version: 2 }])
  go()
  await clock.advance(0)
  expect(taken).toEqual([[change(2)], [change(1000), { ticketId: 't2', letter: 'C', version: 2 }]])
  standby.close()
})

test('a closed standby reads and reports nothing more', async () => {
  const { clock, problems, standby, calls } = open()
  await clock.advance(100)
  standby.close()
  await clock.advance(10)
  const before = calls()
  await clock.advance(10_000)
  expect(calls()).toBe(before)
  expect(clock.sleepers).toBe(0)
  expect(standby.isBroken()).toBe(true)
  expect(problems).toEqual([])
})

test('a standby that is closed while it loads stops loading', async () => {
  const { clock, problems, standby } = open({
    load: async () => {
      await clock.sleep(100)
      throw new Error('abandoned')
    },
  })
  await clock.advance(50)
  standby.close()
  await clock.advance(1000)
  expect(problems).toEqual([])
  expect(clock.sleepers).toBe(0)
})

test.each(['a failed step', 'a stream gap', 'a missed change'])(
  'a standby must reload everything after %s',
  async (what) => {
    const { clock, problems, standby } = open(
      {
        changed: async () => {
          throw new Error('no Redis')
        },
      },
      async () => ({ ...NOTHING, gap: what === 'a stream gap' }),
    )
    await clock.advance(0)
    if (what === 'a failed step') standby.receive([{ ticketId: 't1', letter: 'M', version: 2 }])
    if (what === 'a missed change') standby.missed()
    await clock.advance(1000)
    expect(standby.isBroken()).toBe(true)
    expect(problems).toHaveLength(what === 'a failed step' ? 1 : 0)
    await expect(clock.until(standby.end())).rejects.toThrow('its copy of the tickets cannot be used')
  },
)

test('a standby that becomes leader first applies all received changes, and returns its inbox position', async () => {
  let go = () => {}
  const slow = new Promise<void>((resolve) => {
    go = resolve
  })
  const { clock, standby } = open({ changed: () => slow })
  await clock.advance(1500)
  standby.receive([{ ticketId: 't1', letter: 'M', version: 2 }])
  let cursor: string | undefined
  const ending = standby.end().then((at) => (cursor = at))
  await clock.advance(5000)
  expect(cursor).toBeUndefined()
  go()
  await ending
  expect(cursor).toBe('1')
  expect(clock.sleepers).toBe(0)
})
