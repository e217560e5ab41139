import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bound, createSpendingLimiter } from './spending-limiter.js'
import { Server, type ServerPhase } from '../records/server.js'
import { Fleet } from './fleet.js'

function servers(...phases: ServerPhase[]) {
  const all = new Fleet()
  for (const [index, phase] of phases.entries()) {
    const server = new Server({ serverId: `m${index}`, queue: 'q', at: 0 }, undefined)
    all.add(server)
    all.enter(server, phase)
  }
  return { count: all.count(), startingCount: all.startingCount() }
}
const none = servers()
const bound = { maxServers: 5, maxStarting: 3, maxCreatesPerMinute: Infinity }

describe('the number of servers that may be created', () => {
  test.each<[ServerPhase[], number, Bound | undefined]>([
    [[], 3, undefined],
    [['creating', 'finding'], 1, undefined],
    [['starting', 'retrying', 'warming'], 0, 'maxStarting'],
    [['running', 'running', 'running'], 2, undefined],
    [['running', 'running', 'running', 'stopping'], 1, undefined],
    [['running', 'running', 'running', 'running', 'running', 'running'], 0, 'maxServers'],
  ])('with existing servers in the phases %j, %d more servers may be created', (phases, room, blockedBy) => {
    const spendingLimiter = createSpendingLimiter(bound)
    expect([spendingLimiter.room(servers(...phases), 0), spendingLimiter.blockedBy()]).toEqual([room, blockedBy])
  })
})

describe('a shared budget of servers', () => {
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

  test.each<[number, number, number, Bound | undefined]>([
    [2, 9, 2, undefined],
    [9, 1, 1, undefined],
    [0, 9, 0, 'budget'],
    [9, 0, 0, 'budget'],
    [9, 9, 3, undefined],
  ])('creates are limited to a shared budget of %i servers and %i creates', (left, creates, room, blockedBy) => {
    const shared = budget(left, creates)
    const spendingLimiter = createSpendingLimiter({ ...bound, budget: shared })
    expect([spendingLimiter.room(servers('running', 'running'), 0), spendingLimiter.blockedBy()]).toEqual([
      room,
      blockedBy,
    ])
    expect(shared.asked).toEqual([2])
    expect(spendingLimiter.mayCreate(0)).toBe(creates > 0)
  })

  test('each planned create is reported to the shared budget', () => {
    const spendingLimiter = createSpendingLimiter({ ...bound, budget: budget(9, 1) })
    spendingLimiter.planned({})
    expect([spendingLimiter.room(none, 0), spendingLimiter.blockedBy(), spendingLimiter.mayCreate(0)]).toEqual([
      0,
      'budget',
      false,
    ])
  })
})

const minute = (maxCreatesPerMinute: number) =>
  createSpendingLimiter({ maxStarting: Infinity, maxServers: Infinity, maxCreatesPerMinute })

test('property: no minute has more creates than allowed, counting creates that still wait to be sent', () => {
  const gap = fc.nat(20_000)
  const step = fc.oneof(
    fc.record({ gap, does: fc.constant('plan' as const) }),
    fc.record({ gap, does: fc.constantFrom('send' as const, 'forgo' as const), which: fc.nat(20) }),
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 300 }), (most, steps) => {
      const spendingLimiter = minute(most)
      const planned: object[] = []
      const sent: number[] = []
      let now = 0
      for (const each of steps) {
        now += each.gap
        const used = planned.length + sent.filter((at) => at > now - 60_000).length
        expect(spendingLimiter.mayCreate(now)).toBe(used < most)
        const blockedBy = used < most ? undefined : 'maxCreatesPerMinute'
        expect([spendingLimiter.room(none, now), spendingLimiter.blockedBy()]).toEqual([most - used, blockedBy])
        if (each.does === 'plan') {
          if (used === most) continue
          planned.push({})
          spendingLimiter.planned(planned.at(-1) as object)
          continue
        }
        const [match] = planned.splice(each.which % Math.max(1, planned.length), 1)
        if (match === undefined) continue
        if (each.does === 'forgo') spendingLimiter.abandoned(match)
        else {
          spendingLimiter.sent(match, now)
          sent.push(now)
        }
      }
      for (const start of sent)
        expect(sent.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(most)
    }),
  )
})

test('the limit of creates per minute counts every create that was sent, regardless of its outcome', () => {
  const spendingLimiter = minute(1)
  const match = {}
  spendingLimiter.planned(match)
  spendingLimiter.sent(match, 0)
  spendingLimiter.abandoned(match)
  expect([spendingLimiter.mayCreate(59_999), spendingLimiter.mayCreate(60_000)]).toEqual([false, true])
})
