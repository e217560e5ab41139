/**
 * Tests that no ticket ever returns to an earlier state, whatever the deployment service does and whenever the process
 * is killed.
 */
import { MusterError } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import type { ServiceOptions } from '@muster/hosting/service-fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createWorld, duel } from './logged-matchmaker.fixture.js'
import { anyFate, anyFault, chance, createFault } from '@muster/hosting/schedules-fixture'

type Life = Awaited<ReturnType<ReturnType<typeof createWorld>['live']>>

const players = ['ann', 'ben', 'cas', 'dee', 'eve', 'fay']
const acts = ['cancel', 'accept', 'stop'] as const
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('join' as const), who: fc.nat(5), isAsked: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom(...acts), who: fc.nat(20) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('run' as const), ticks: fc.integer({ min: 1, max: 24 }) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'kill' as const }) },
)

type Act = Exclude<typeof step extends fc.Arbitrary<infer Value> ? Value : never, { kind: 'run' } | { kind: 'kill' }>

/** Creates a service on which a third of all calls fail. It also loses responses and creates, and is slow at times. */
const faulty = (seed: number): Partial<ServiceOptions> => {
  const random = seededRandom(seed)
  return {
    latencyMs: () => (chance(random, 0.2) ? 3000 * random() : 20),
    listLagMs: 2000,
    fate: () => anyFate(random),
    fault: (method, nth) => {
      if (!chance(random, 0.35)) return undefined
      return method === 'create' ? createFault(random, `r${nth}`) : anyFault(random)
    },
  }
}

/** Performs a client's command, if it is permitted. */
function act({ matchmaker }: Life, ids: string[], given: Act): void {
  if (given.kind === 'join') {
    const id = players[given.who] as string
    const queue = given.isAsked ? 'asked' : 'duel'
    ids.push(matchmaker.createTicket({ queue, players: [{ id, ip: '192.0.2.1' }] }).id)
    return
  }
  const id = ids[given.who % Math.max(1, ids.length)] ?? 'none'
  if (given.kind === 'cancel') matchmaker.cancelTicket(id)
  else if (given.kind === 'accept') matchmaker.acceptMatch(id)
  else void matchmaker.stopMatch(matchmaker.getTicket(id)?.matchId ?? 'none').catch(() => {})
}

/** Returns undefined for a refusal: 503 says nothing about a ticket, and 404 and 409 say nothing new. */
function unlessRefused<T>(ask: () => T): T | undefined {
  try {
    return ask()
  } catch (error) {
    if (error instanceof MusterError) return undefined
    throw error
  }
}

test('property: a ticket version seen by a client never decreases, under any faults and kills', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40 }), fc.nat(), async (steps, seed) => {
      const queues = [
        { ...duel, expireAfterMs: 30_000 },
        { ...duel, name: 'asked', acceptance: { withinMs: 5000 }, expireAfterMs: 30_000 },
      ]
      const world = createWorld({ queues, service: faulty(seed) })
      const ids: string[] = []
      /** For each ticket, the version and state that clients saw last. */
      const shown = new Map<string, { readonly version: number; readonly what: string }>()
      /** Reads all tickets like clients. */
      const look = ({ matchmaker }: Life) => {
        for (const id of ids) {
          const ticket = unlessRefused(() => matchmaker.getTicket(id))
          if (ticket === undefined) continue
          const { version, status, matchId = '' } = ticket
          const what = `${status} ${matchId}`
          const before = shown.get(id)
          if (before !== undefined) {
            expect(version, `${id}: ${before.what}, then ${what}`).toBeGreaterThanOrEqual(before.version)
            if (version === before.version) expect(what, `${id} at version ${version}`).toBe(before.what)
          }
          shown.set(id, { version, what })
        }
      }
      try {
        let life = await world.live()
        for (const one of steps) {
          if (one.kind === 'run') {
            for (let tick = 0; tick < one.ticks; tick += 1) {
              await life.run(250)
              look(life)
            }
          } else if (one.kind === 'kill') {
            world.kill()
            life = await world.live()
          } else unlessRefused(() => act(life, ids, one))
          look(life)
        }
      } finally {
        await world.remove()
      }
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 10 },
  )
})
