import { createMemoryStore } from '@muster/hosting'
import { expect, test } from 'vitest'
import { deploy, setUp } from './matchmaker.fixture.js'
import type { QueueDefinition } from './queues/queue.js'

const queues: readonly QueueDefinition[] = [
  { name: 'duel', matchSize: 2, deploy, rules: [{ kind: 'latency', maxMs: 100, optionalAfterMs: 1000 }] },
  { name: 'trio', matchSize: 3, deploy, acceptance: { withinMs: 3000 }, cooldown: {} },
]

/** Changes every value in an object that is not frozen. */
function ruin(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || value instanceof Error || seen.has(value)) return
  seen.add(value)
  for (const inside of Object.values(value)) ruin(inside, seen)
  if (Object.isFrozen(value)) return
  if (Array.isArray(value)) value.push('ruined')
  else for (const key of Object.keys(value)) Reflect.set(value, key, 'ruined')
}

/** Plays the lives of a few tickets. @param got is called with each result and event */
async function play(got: (result: unknown) => void): Promise<unknown> {
  const { clock, matchmaker } = setUp({
    queues,
    store: createMemoryStore(),
    beacons: async () => [{ host: 'oslo', location: { city: 'oslo', latitude: 59.9, longitude: 10.7 } } as never],
  })
  for (const event of ['ticketCreated', 'matchFound', 'matchAccepted', 'serverAssigned', 'playersLeft'] as const)
    matchmaker.on(event, got)
  for (const event of ['cooldownBegan', 'cancelled', 'ticketRequeued', 'matchOver', 'backfillCreated'] as const)
    matchmaker.on(event, got)
  const ids = ['ann', 'ben', 'cas', 'dee', 'eva', 'fay', 'gus']
  const look = () => {
    const { exportTickets, exportCooldowns, queueNames, browserTerms, inspect, joinKeys } = matchmaker
    const all = [exportTickets, exportCooldowns, queueNames, browserTerms, inspect, joinKeys].map((read) => read())
    const ofTickets = ids.map((id) => {
      const ticket = matchmaker.getTicket(id)
      const waits = ticket?.status === 'SEARCHING' ? matchmaker.explain(id) : undefined
      return [ticket, waits, matchmaker.findPlayer(id), matchmaker.cooldownsOf(id)]
    })
    return [...all, ...ofTickets]
  }
  for (const [index, id] of ids.entries()) {
    const player = { id, ip: '198.51.100.7', latencies: { oslo: 20 }, attributes: { modes: ['ctf'], skill: 5 } }
    got(matchmaker.createTicket({ id, queues: index < 2 ? ['duel'] : ['trio'], players: [player] }))
  }
  got(
    matchmaker.createTicket({
      id: 'both',
      queues: ['duel', 'trio'],
      players: [{ id: 'hal', ip: '198.51.100.7', latencies: { oslo: 9 } }],
    }),
  )
  const states: unknown[] = []
  for (let round = 0; round < 40; round += 1) {
    states.push(structuredClone(look()))
    got(look())
    if (round === 3) for (const id of ['cas', 'dee']) got(matchmaker.acceptMatch(id))
    if (round === 30) got(await matchmaker.playersLeft(matchmaker.getTicket('ann')?.matchId ?? '', ['ann']))
    await matchmaker.tick()
    await clock.advance(400)
  }
  return states
}

test('callers may change all results and events that are not frozen, without an effect', async () => {
  expect(await play(ruin)).toEqual(await play(() => {}))
})
