import type { Ticket } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import type { DemoResult } from '../result.js'
import { isGoodInProcesses, processesResult, type Seen } from './result.js'

const result = { lost: 0, broken: [], serversLeft: 0, rejected429: 0, interrupted: undefined } as unknown as DemoResult
const ticket = (id: string, status: Ticket['status']) => ({ id, status }) as Ticket
const server = (tag: string) => ({ tags: ['mm-demo', tag] })
const good: Seen = {
  processes: 3,
  ended: [ticket('a', 'HOST_ASSIGNED'), ticket('b', 'CANCELLED')],
  acknowledged: ['a', 'b'],
  repeated: 7,
  takeoversMs: [1234],
  deployments: [server('match-x'), server('match-x-2'), { tags: null }],
}

test('the demo with several processes passes after a takeover, even if a match was placed twice', () => {
  const whole = processesResult(result, good)
  expect(whole.several).toEqual({
    processes: 3,
    takeoverSeconds: [1.23],
    ticketsLost: 0,
    matchesWithTwoServers: 0,
    repeated: 7,
  })
  expect(isGoodInProcesses(whole)).toBe(true)
})

test.each<[string, Partial<Seen>, object]>([
  ['a ticket unknown to every process', { acknowledged: ['a', 'b', 'c'] }, { ticketsLost: 1 }],
  ['a ticket without an end', { ended: [ticket('a', 'MATCH_FOUND'), ticket('b', 'SEARCHING')] }, { ticketsLost: 2 }],
  ['two servers of one attempt', { deployments: [server('match-x'), server('match-x')] }, { matchesWithTwoServers: 1 }],
  ['no takeover', { takeoversMs: [] }, { takeoverSeconds: [] }],
])('the demo with several processes fails if it has %s', (_, change, wrong) => {
  const whole = processesResult(result, { ...good, ...change })
  expect(whole.several).toMatchObject(wrong)
  expect(isGoodInProcesses(whole)).toBe(false)
})

test('the result of a stopped demo passes with queued tickets, but not with lost tickets', () => {
  const stopped = { ...result, interrupted: { notCome: 1, waiting: 1, servers: 0 } }
  const waiting = { ...good, ended: [ticket('a', 'SEARCHING')], acknowledged: ['a'], takeoversMs: [] }
  expect(isGoodInProcesses(processesResult(stopped, waiting))).toBe(true)
  expect(processesResult(stopped, { ...waiting, acknowledged: ['a', 'b'] }).several.ticketsLost).toBe(1)
})
