import { createManualClock, seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createFakeService, type FaultRule } from '../fake-service.fixture.js'
import { within } from '../within.fixture.js'
import { failing, players } from './sessions.fixture.js'
import type { RelayService } from './session-context.js'
import { createRelaySessions } from './sessions.js'

const PAGE = 10

/** Starts a successor of a dead process, at a service whose list has one page. */
function setUp(faults: FaultRule[] = []) {
  const clock = createManualClock()
  const all = createFakeService({ clock, random: seededRandom(3), faults, readyAfterMs: 500 })
  const service: RelayService = {
    ...all,
    list: async (input, options) => {
      const { sessions } = await all.list(input, options)
      const page = { sessions: sessions.slice(0, PAGE), pagination: { number: 1, has_next: sessions.length > PAGE } }
      return page as Awaited<ReturnType<RelayService['list']>>
    },
  }
  const processOf = (seed: number) => {
    const random = seededRandom(seed)
    return createRelaySessions({
      client: service,
      clock,
      randomInt: (max) => Math.floor(random() * max),
      sessionsPerHost: null,
    })
  }
  const fail = (rules: FaultRule[]) => all.setFaults(rules)
  const heal = () => fail([])
  return {
    clock,
    open: () => all.open,
    fail,
    heal,
    gone: processOf(1),
    next: processOf(2),
    within: <T>(promise: Promise<T>) => within(clock, promise),
  }
}

test('one reapOrphans call deletes all sessions of a dead process, on any number of pages', async () => {
  const { open, gone, next, within } = setUp()
  const left = await within(Promise.all(Array.from({ length: 35 }, () => gone.create({ players }))))
  const { deleted } = await within(next.reapOrphans({ graceMs: 0 }))
  expect([...deleted].toSorted()).toEqual(left.map(({ id }) => id).toSorted())
  expect(open()).toEqual([])
})

test.each(['request lost', 'server error', 'success without effect'] as const)(
  'the delete of an orphaned relay session is repeated after the fault “%s”',
  async (fault) => {
    const { open, gone, next, within } = setUp([{ operation: 'delete', fault, times: 30 }])
    await within(Promise.all(Array.from({ length: 12 }, () => gone.create({ players }))))
    const failed: string[] = []
    next.events.on('deleteFailed', ({ sessionId }) => failed.push(sessionId))
    const { deleted, left } = await within(next.reapOrphans({ graceMs: 0 }))
    expect([deleted.length, left]).toEqual([12, []])
    expect(failed.length).toBe(fault === 'success without effect' ? 0 : 30)
    expect(open()).toEqual([])
  },
)

test('a failed delete of an orphaned relay session is repeated by ticks, even if the list fails', async () => {
  const noDelete = { operation: 'delete', fault: 'server error' } as const
  const { clock, open, gone, next, within, fail, heal } = setUp([noDelete])
  await within(gone.create({ players }))
  const reaping = failing(next.reapOrphans({ graceMs: 0 }))
  await clock.advance(500)
  fail([noDelete, { operation: 'list', fault: 'server error' }])
  expect(await within(reaping)).toMatchObject({ name: 'ServerError' })
  heal()
  await clock.advance(11_000)
  expect(open()).toEqual([])
  await within(Promise.all([next.close(), gone.close()]))
})

test('reapOrphans also deletes a relay session of a dead process that appears later', async () => {
  const { clock, open, gone, next, within } = setUp([{ operation: 'create', fault: 'carried out late', times: 3 }])
  const dying = Promise.all([1, 2, 3].map(() => failing(gone.create({ players }))))
  await clock.advance(10)
  const reaping = next.reapOrphans({ graceMs: 0 })
  await clock.advance(1)
  expect(open()).toEqual([])
  const { deleted } = await within(reaping)
  expect(deleted.length).toBeGreaterThanOrEqual(3)
  await within(gone.close())
  await dying
  expect(open()).toEqual([])
})

test.each([undefined, 'https://old.example/hooks'])(
  'reapOrphans finds relay sessions of a dead process whose webhookBaseUrl was %s',
  async (webhookBaseUrl) => {
    const clock = createManualClock()
    const service = createFakeService({ clock, random: seededRandom(3) })
    const gone = createRelaySessions({ client: service, clock, webhookBaseUrl })
    const other = createRelaySessions({ client: service, clock, webhookBaseUrl, owner: 'other' })
    const next = createRelaySessions({ client: service, clock, webhookBaseUrl: 'https://new.example/hooks' })
    await within(clock, gone.create({ players, label: 'a' }))
    const { id } = await within(clock, other.create({ players }))
    expect((await within(clock, next.reapOrphans({ graceMs: 0 }))).deleted).toHaveLength(1)
    expect(service.open).toEqual([id])
  },
)

test('a relay session that the service does not delete is reported, and deleted by a later tick', async () => {
  const { clock, open, gone, next, within, heal } = setUp([{ operation: 'delete', fault: 'server error' }])
  const { id } = await within(gone.create({ players }))
  expect(await within(next.reapOrphans({ graceMs: 0 }))).toEqual({ deleted: [], left: [id] })
  heal()
  await clock.advance(11_000)
  expect(open()).toEqual([])
  await within(Promise.all([next.close(), gone.close()]))
})

test('close names the relay sessions that could not be deleted', async () => {
  const { gone, next, within } = setUp([{ operation: 'delete', fault: 'server error' }])
  const { id } = await within(gone.create({ players }))
  await within(next.reapOrphans({ graceMs: 0 }))
  const error = await within(failing(next.close({ timeoutMs: 3000 })))
  expect(error).toMatchObject({ name: 'RelayNotDeleted', sessionIds: [id] })
})

test('relay sessions opened while orphans are searched for are no orphans, even after release', async () => {
  const { open, gone, next, within, clock } = setUp()
  await within(gone.create({ players }))
  const reaping = next.reapOrphans({ graceMs: 0 })
  await clock.advance(1000)
  const { id } = await within(next.open({ players }))
  next.release(id)
  expect((await within(reaping)).deleted).toHaveLength(1)
  expect(open()).toEqual([id])
})
