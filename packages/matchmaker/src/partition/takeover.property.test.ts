import { ConnectionLost, NoCapacity } from '@muster/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CallFault } from '@muster/hosting/service-fixture'
import { createWorld, deploy, duel } from './leader.fixture.js'

const PLAYERS = ['ann', 'ben', 'cas', 'dee', 'eve', 'fin']

/** Faults of a create. */
const faults: Readonly<Record<string, CallFault | undefined>> = {
  none: undefined,
  lost: { error: new ConnectionLost('lost', { sent: true }), effect: true },
  'not done': { error: new ConnectionLost('lost', { sent: true }) },
  full: { error: new NoCapacity('full', { requestId: undefined }) },
}

const scenario = fc.record({
  /** Milliseconds for which each leader leads. */
  terms: fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 5 }),
  latencyMs: fc.constantFrom(0, 30, 700),
  readyMs: fc.constantFrom(100, 3000, 8000),
  creates: fc.array(fc.constantFrom(...Object.keys(faults)), { maxLength: 6 }),
  /** The player who cancels between two leaders, if it is not too late. */
  cancels: fc.array(fc.constantFrom(undefined, ...PLAYERS), { maxLength: 5 }),
  acceptance: fc.boolean(),
  warmUpMs: fc.constantFrom(0, 1500),
})

test('property: for any changes of the leader, no match has two servers and none is orphaned', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ terms, latencyMs, readyMs, creates, cancels, acceptance, warmUpMs }) => {
      const queue = {
        ...duel,
        maxAttempts: 20,
        deploy: { ...deploy, warmUpMs },
        ...(acceptance ? { acceptance: { withinMs: 60_000 } } : {}),
      }
      const world = createWorld({
        queues: [queue],
        service: {
          latencyMs: () => latencyMs,
          fate: () => ({ readyMs }),
          fault: (method, nth) => (method === 'create' ? faults[creates[nth - 1] ?? 'none'] : undefined),
        },
      })
      for (const id of PLAYERS) world.join(id)
      let one = await world.lead()
      const lead = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += 250) {
          await one.run(Math.min(250, ms - passed))
          for (const id of PLAYERS) if (one.leader.getTicket(id)?.acceptance !== undefined) one.leader.acceptMatch(id)
        }
      }
      for (const [term, ms] of terms.entries()) {
        await lead(ms)
        one.leader.abandon()
        const gone = cancels[term]
        const stored = gone === undefined ? undefined : world.stored.get(gone)
        if (stored?.state?.status === 'MATCH_FOUND') {
          const { version, attempts } = stored.state
          world.stored.set(stored.id, { ...stored, state: { version: version + 1, status: 'CANCELLED', attempts } })
        }
        one = await world.lead()
      }
      await lead(120_000)

      const tags = world.service.calls.create.map((call) => call.tags?.[1])
      expect(new Set(tags).size).toBe(tags.length)
      const playing = PLAYERS.filter((id) => world.state(id)?.status === 'HOST_ASSIGNED')
      const waiting = PLAYERS.filter((id) => ['SEARCHING', undefined].includes(world.state(id)?.status))
      expect(waiting.length).toBeLessThan(2)
      const matches = new Set(playing.map((id) => world.state(id)?.matchId))
      expect(playing).toHaveLength(2 * matches.size)
      expect(world.service.unstopped()).toHaveLength(matches.size)
      const open = await world.serverLog.open()
      expect(new Set(open.matches.map(({ matchId }) => matchId))).toEqual(matches)
      expect(new Set(open.servers.map(({ bornFor }) => bornFor))).toEqual(matches)
      const views = one.leader.inspect().matches
      expect(views.map(({ phase }) => phase)).toEqual(views.map(() => 'running'))
      expect(new Set(views.map(({ requestId }) => requestId))).toEqual(new Set(world.service.unstopped()))
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 10 },
  )
})
