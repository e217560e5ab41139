import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMatchmaker } from '../create-matchmaker.js'
import { setUp } from '../matchmaker.fixture.js'
import { running, social } from './backfill.fixture.js'
import { createMemoryStore, type StoreMemory } from '@muster/hosting'
import { createMemoryServerLog } from '@muster/hosting/internal'

const NAMES = ['ann', 'ben', 'cleo', 'dan', 'eve'] as const
const at = { ip: '198.51.100.7' }

test('property: findPlayer returns the ticket and running matches of a player, even after a restart', async () => {
  const act = fc.oneof(
    fc.record({ do: fc.constant('wait' as const), who: fc.subarray([...NAMES], { minLength: 1, maxLength: 2 }) }),
    fc.record({ do: fc.constant('cancel' as const), who: fc.subarray([...NAMES], { minLength: 1, maxLength: 1 }) }),
    fc.record({ do: fc.constant('leave' as const), who: fc.subarray([...NAMES], { minLength: 1 }) }),
    fc.record({ do: fc.constantFrom('stop' as const, 'restart' as const), who: fc.constant([]) }),
    fc.record({ do: fc.constant('run' as const), who: fc.constant([]) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
      const serverLog = createMemoryServerLog()
      const first = setUp({ serverLog, service: { fate: () => ({ readyMs: 3000 }) } })
      const { clock, service } = first
      let { matchmaker } = first
      let ids: string[] = []
      for (const { do: what, who } of acts) {
        if (what === 'restart') {
          ;({ matchmaker } = setUp({ serverLog, clock, deployments: service.deployments }))
          ids = []
          await matchmaker.tick()
        }
        for (let ticks = 0; what === 'run' && ticks < 20; ticks += 1) {
          await matchmaker.tick()
          await clock.advance(250)
        }
        for (const { matchId, phase } of matchmaker.inspect().matches) {
          if (what === 'leave' && phase === 'running') matchmaker.playersLeft(matchId, who)
          if (what === 'stop' && phase === 'running') void matchmaker.stopMatch(matchId).catch(() => {})
        }
        if (what === 'wait') {
          const [result] = matchmaker.createTickets([{ queue: 'duel', players: who.map((id) => ({ id, ...at })) }])
          if (result?.ticket !== undefined) ids.push(result.ticket.id)
        }
        if (what === 'cancel')
          for (const { id, status } of matchmaker.findPlayer(who[0] ?? '').tickets)
            if (status !== 'HOST_ASSIGNED') matchmaker.cancelTicket(id)

        for (const name of NAMES) {
          const { tickets, match } = matchmaker.findPlayer(name)
          const open = ids
            .flatMap((id) => matchmaker.getTicket(id) ?? [])
            .filter(({ status, players }) => status !== 'CANCELLED' && players.some(({ id }) => id === name))
          const running = matchmaker
            .inspect()
            .matches.filter(({ phase, playerIds }) => phase === 'running' && playerIds.includes(name))
          const found = tickets.filter(({ status }) => status === 'HOST_ASSIGNED')
          expect(tickets.filter((one) => !found.includes(one))).toEqual(
            open.filter(({ status }) => status !== 'HOST_ASSIGNED'),
          )
          expect([...found, ...(match === undefined ? [] : [match])].map((one) => one.matchId)).toEqual(
            running.map(({ matchId }) => matchId),
          )
          for (const one of [...found, ...(match === undefined ? [] : [match])])
            expect(one.assignment?.fqdn).toMatch(/^r\d+\.example\.com$/)
        }
      }
    }),
    { numRuns: 60 },
  )
})

test('after a restart, findPlayer lists a match only once for a player who joined it later', async () => {
  const memory: StoreMemory = new Map()
  const all = await running({}, { store: createMemoryStore(memory) })
  const { matchmaker, matchId, join, run, service, clock, status } = all
  matchmaker.createBackfill({ matchId })
  join('cas')
  await run(500)
  expect(status('cas')).toBe('HOST_ASSIGNED')
  const store = createMemoryStore(memory)
  const next = createMatchmaker({ deployments: service.deployments, queues: [social], clock, store })
  await next.tick()
  for (const name of ['ann', 'cas']) {
    const { tickets, match } = next.findPlayer(name)
    expect([tickets.map((ticket) => ticket.matchId), match]).toEqual([[matchId], undefined])
  }
})
