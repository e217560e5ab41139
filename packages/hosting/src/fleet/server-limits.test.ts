import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bound, createGovernor } from './server-limits.js'
import { Server, type ServerPhase } from '../records/server.js'
import { createFleet } from './fleet.js'

function servers(...phases: ServerPhase[]) {
  const all = createFleet()
  for (const [index, phase] of phases.entries()) {
    const server = new Server({ serverId: `m${index}`, queue: 'q', at: 0 }, undefined)
    all.add(server)
    all.enter(server, phase)
  }
  return { count: all.count(), startingCount: all.startingCount() }
}
const none = servers()
const bound = { maxServers: 5, maxStarting: 3, maxCreatesPerMinute: Infinity }

describe('the room for creates', () => {
  test.each<[ServerPhase[], number, Bound | undefined]>([
    [[], 3, undefined],
    [['creating', 'finding'], 1, undefined],
    [['starting', 'retrying', 'warming'], 0, 'maxStarting'],
    [['running', 'running', 'running'], 2, undefined],
    [['running', 'running', 'running', 'stopping'], 1, undefined],
    [['running', 'running', 'running', 'running', 'running', 'running'], 0, 'maxServers'],
  ])('with %j', (phases, room, held) => {
    const governor = createGovernor(bound)
    expect([governor.room(servers(...phases), 0), governor.held()]).toEqual([room, held])
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

  test.each<[number, number, number, Bound | undefined]>([
    [2, 9, 2, undefined],
    [9, 1, 1, undefined],
    [0, 9, 0, 'budget'],
    [9, 0, 0, 'budget'],
    [9, 9, 3, undefined],
  ])('of %i servers and %i creates', (left, creates, room, held) => {
    const shared = budget(left, creates)
    const governor = createGovernor({ ...bound, budget: shared })
    expect([governor.room(servers('running', 'running'), 0), governor.held()]).toEqual([room, held])
    expect(shared.asked).toEqual([2])
    expect(governor.mayCreate(0)).toBe(creates > 0)
  })

  test('reports what is planned', () => {
    const governor = createGovernor({ ...bound, budget: budget(9, 1) })
    governor.planned({})
    expect([governor.room(none, 0), governor.held(), governor.mayCreate(0)]).toEqual([0, 'budget', false])
  })
})

const minute = (maxCreatesPerMinute: number) =>
  createGovernor({ maxStarting: Infinity, maxServers: Infinity, maxCreatesPerMinute })

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
          governor.planned(planned.at(-1) as object)
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
  governor.planned(match)
  governor.sent(match, 0)
  governor.forgone(match)
  expect([governor.mayCreate(59_999), governor.mayCreate(60_000)]).toEqual([false, true])
})
