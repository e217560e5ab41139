import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import type { Inbox, TicketChange } from '../store/store.js'
import { createStandby } from './standby.js'
import type { Replica } from './replica.js'

const NOTHING: Inbox = { cursor: '1', entries: [], gap: false }

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

test('while Redis is slow, what waits is of each ticket the newest change alone', async () => {
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
  standby.heard([change(2)])
  await clock.advance(0)
  for (let version = 3; version <= 1000; version += 1) standby.heard([change(version)])
  standby.heard([{ ticketId: 't2', letter: 'C', version: 2 }])
  go()
  await clock.advance(0)
  expect(taken).toEqual([[change(2)], [change(1000), { ticketId: 't2', letter: 'C', version: 2 }]])
  standby.close()
})

test('once it is closed it reads nothing more, and reports nothing', async () => {
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

test('closed while it loads, it stops there', async () => {
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

test.each(['a step that fails', 'a gap', 'what was missed'])('after %s it is of no use', async (what) => {
  const { clock, problems, standby } = open(
    {
      changed: async () => {
        throw new Error('no Redis')
      },
    },
    async () => ({ ...NOTHING, gap: what === 'a gap' }),
  )
  await clock.advance(0)
  if (what === 'a step that fails') standby.heard([{ ticketId: 't1', letter: 'M', version: 2 }])
  if (what === 'what was missed') standby.missed()
  await clock.advance(1000)
  expect(standby.isBroken()).toBe(true)
  expect(problems).toHaveLength(what === 'a step that fails' ? 1 : 0)
  await expect(clock.until(standby.end())).rejects.toThrow('not up to date')
})

test('its end waits until all that was received is done, and returns where the inbox continues', async () => {
  let go = () => {}
  const slow = new Promise<void>((resolve) => {
    go = resolve
  })
  const { clock, standby } = open({ changed: () => slow })
  await clock.advance(1500)
  standby.heard([{ ticketId: 't1', letter: 'M', version: 2 }])
  let cursor: string | undefined
  const ending = standby.end().then((at) => (cursor = at))
  await clock.advance(5000)
  expect(cursor).toBeUndefined()
  go()
  await ending
  expect(cursor).toBe('1')
  expect(clock.sleepers).toBe(0)
})
