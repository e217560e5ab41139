import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Forbidden, RouteMissing, ServerError } from '@muster/core'
import { createGovernor as createUnread, type Held, type SpendBound } from './server-limits.js'
import { type AllocationPhase, inheritedAllocation } from './records/allocation.js'
import { createAllocations } from './allocations.js'

function matches(...phases: AllocationPhase[]) {
  const all = createAllocations()
  for (const [index, phase] of phases.entries()) {
    const allocation = inheritedAllocation({ matchId: `m${index}`, queue: 'q', tag: 't', ticketIds: [], at: 0 })
    all.add(allocation)
    all.enter(allocation, phase)
  }
  return { count: all.count(), startingCount: all.startingCount() }
}
const none = matches()
/** A governor that knows that the service answers lists. */
function createGovernor(bound: SpendBound, random: () => number) {
  const governor = createUnread(bound, random)
  governor.read()
  return governor
}
const bound = { maxServers: 5, maxStarting: 3, maxCreatesPerMinute: Infinity }

describe('the room for creates', () => {
  test.each<[AllocationPhase[], number, Held | undefined]>([
    [[], 3, undefined],
    [['creating', 'finding'], 1, undefined],
    [['starting', 'retrying', 'warming'], 0, 'maxStarting'],
    [['running', 'running', 'running'], 2, undefined],
    [['running', 'running', 'running', 'stopping'], 1, undefined],
    [['running', 'running', 'running', 'running', 'running', 'running'], 0, 'maxServers'],
  ])('with %j', (phases, room, held) => {
    const governor = createGovernor(bound, () => 1)
    expect([governor.room(matches(...phases), 0), governor.held()]).toEqual([room, held])
  })
})

describe('a budget that others share', () => {
  const budget = (servers: number, creates: number) => {
    const asked: number[] = []
    let planned = 0
    return {
      servers: (count: number) => (asked.push(count), servers),
      creates: () => creates - planned,
      planned: () => void (planned += 1),
      asked,
    }
  }

  test.each<[number, number, number, Held | undefined]>([
    [2, 9, 2, undefined],
    [9, 1, 1, undefined],
    [0, 9, 0, 'budget'],
    [9, 0, 0, 'budget'],
    [9, 9, 3, undefined],
  ])('of %i servers and %i creates', (servers, creates, room, held) => {
    const shared = budget(servers, creates)
    const governor = createGovernor({ ...bound, budget: shared }, () => 1)
    expect([governor.room(matches('running', 'running'), 0), governor.held()]).toEqual([room, held])
    expect(shared.asked).toEqual([2])
    expect(governor.mayCreate(0)).toBe(creates > 0)
  })

  test('reports what is planned', () => {
    const governor = createGovernor({ ...bound, budget: budget(9, 1) }, () => 1)
    governor.planned({}, 0)
    expect([governor.room(none, 0), governor.held(), governor.mayCreate(0)]).toEqual([0, 'budget', false])
  })
})

const minute = (maxCreatesPerMinute: number) =>
  createGovernor({ maxStarting: Infinity, maxServers: Infinity, maxCreatesPerMinute }, () => 1)

test('no minute has more creates than allowed, however long they wait and whether or not they are sent', () => {
  const gap = fc.nat(20_000)
  const step = fc.oneof(
    fc.record({ gap, does: fc.constant('plan' as const) }),
    fc.record({ gap, does: fc.constantFrom('send' as const, 'forgo' as const), which: fc.nat(20) }),
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 300 }), (most, steps) => {
      const governor = minute(most)
      const planned: object[] = []
      const sent: number[] = []
      let now = 0
      for (const each of steps) {
        now += each.gap
        const used = planned.length + sent.filter((at) => at > now - 60_000).length
        expect(governor.mayCreate(now)).toBe(used < most)
        const held = used < most ? undefined : 'maxCreatesPerMinute'
        expect([governor.room(none, now), governor.held()]).toEqual([most - used, held])
        if (each.does === 'plan') {
          if (used === most) continue
          planned.push({})
          governor.planned(planned.at(-1) as object, now)
          continue
        }
        const [match] = planned.splice(each.which % Math.max(1, planned.length), 1)
        if (match === undefined) continue
        if (each.does === 'forgo') governor.forgone(match)
        else {
          governor.sent(match, now)
          sent.push(now)
        }
      }
      for (const start of sent)
        expect(sent.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(most)
    }),
  )
})

test('counts creates that were sent, whatever their outcome', () => {
  const governor = minute(1)
  const match = {}
  governor.planned(match, 0)
  governor.sent(match, 0)
  governor.forgone(match)
  expect([governor.mayCreate(59_999), governor.mayCreate(60_000)]).toEqual([false, true])
})

describe('a pause', () => {
  const failing = (at: number) => {
    const governor = createGovernor(bound, () => 1)
    for (let time = 0; time < 3; time += 1) governor.failed(at, at)
    return governor
  }

  test('begins with the third failure in a row; failures in flight together count once', () => {
    const governor = createGovernor(bound, () => 1)
    governor.failed(0, 0)
    governor.failed(0, 0)
    expect([governor.room(none, 0), governor.pausedUntil()]).toEqual([3, 0])
    governor.failed(0, 0)
    for (let index = 0; index < 10; index++) governor.failed(0, 100)
    expect([governor.room(none, 499), governor.held(), governor.pausedUntil()]).toEqual([0, 'paused', 500])
  })

  test('lets one create probe per interval, whether or not it is answered', () => {
    const governor = failing(0)
    expect(governor.room(none, 500)).toBe(1)
    governor.planned({}, 500)
    expect([governor.room(none, 500), governor.room(none, 1499), governor.room(none, 1500)]).toEqual([0, 0, 1])
    governor.planned({}, 1500)
    governor.failed(1500, 1600)
    expect([governor.room(none, 3499), governor.room(none, 3500)]).toEqual([0, 1])
  })

  test('ends with the first answer', () => {
    const governor = failing(0)
    governor.planned({}, 500)
    governor.answered(600)
    expect([governor.room(none, 600), governor.held(), governor.pausedUntil()]).toEqual([3, undefined, 0])
  })

  test('is not begun again by creates sent before the answer', () => {
    const governor = failing(0)
    governor.answered(600)
    for (let late = 0; late < 10; late += 1) governor.failed(300, 30_000)
    expect(governor.room(none, 30_000)).toBe(3)
    for (let again = 0; again < 3; again += 1) governor.failed(601, 30_000)
    expect(governor.room(none, 30_000)).toBe(0)
  })

  test('of an hour still probes every three seconds', () => {
    const governor = failing(0)
    let now = 0
    while (now < 3_600_000) {
      const next = governor.pausedUntil()
      expect(next - now).toBeGreaterThan(0)
      expect(next - now).toBeLessThanOrEqual(3000)
      now = next
      governor.planned({}, now)
    }
  })
})

describe('while it is not known whether a server could be stopped again', () => {
  const open = { maxServers: 9, maxStarting: 9, maxCreatesPerMinute: Infinity }
  const one = matches('creating')
  const missing = new RouteMissing('deployments.list: the answer is not of the API')
  const roomOf = (governor: ReturnType<typeof createUnread>) => [governor.room(none, 0), governor.room(one, 0)]

  test('one server may exist, and no second, until the service has answered a read', () => {
    const governor = createUnread(open, () => 1)
    expect([...roomOf(governor), governor.held()]).toEqual([1, 0, 'unstoppable'])
    governor.unread(new ServerError('503'))
    expect(roomOf(governor)).toEqual([1, 0])
    governor.read()
    expect([...roomOf(governor), governor.held()]).toEqual([9, 8, undefined])
  })

  test('a missing route of reads holds creates until a read is answered; an outage does not', () => {
    const governor = createUnread(open, () => 1)
    governor.read()
    governor.unread(new ServerError('503'))
    expect(roomOf(governor)).toEqual([9, 8])
    governor.unread(missing)
    expect(roomOf(governor)).toEqual([1, 0])
  })

  test('a refused stop holds creates until that stop is confirmed', () => {
    const governor = createUnread(open, () => 1)
    governor.read()
    governor.unstopped('r1', new ServerError('503'))
    expect(roomOf(governor)).toEqual([9, 8])
    governor.unstopped('r1', missing)
    governor.unstopped('r2', new Forbidden('deployments.stop: not allowed'))
    governor.stopped('r1')
    governor.read()
    expect([...roomOf(governor), governor.held()]).toEqual([1, 0, 'unstoppable'])
    governor.stopped('r2')
    expect(roomOf(governor)).toEqual([9, 8])
  })
})
