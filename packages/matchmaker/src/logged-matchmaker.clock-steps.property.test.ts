/** The machine's wall clock is set while players wait, and the process is killed and restarted. */
import { type Clock, dateOf } from '@muster/core/clock'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { createWorlds, duel } from './logged-matchmaker.fixture.js'
import { ticketView } from './http-api/ticket-views.js'

const { createWorld, removeAll } = createWorlds()
afterEach(removeAll)

const YEAR_MS = 365 * 86_400_000
const EXPIRES_MS = 600_000

const lonely = { ...duel, matchSize: 3, expireAfterMs: EXPIRES_MS }

type Act = { readonly setBy: number } | { readonly pass: number } | 'restart'

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      setBy: fc.oneof(fc.integer({ min: -7_200_000, max: 7_200_000 }), fc.constantFrom(-YEAR_MS, YEAR_MS)),
    }),
  },
  { weight: 3, arbitrary: fc.record({ pass: fc.integer({ min: 1, max: 120 }).map((nth) => nth * 250) }) },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
)

test('property: a step of the wall clock, and a restart after it, changes no wait time and no date', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
      const world = createWorld({ queues: [lonely] })
      const { clock } = world
      /** Returns the clock of a process that starts now: it begins at the present wall clock time. */
      const begin = (): Clock => {
        const aheadMs = clock.wallStepMs()
        return {
          now: () => clock.now() + aheadMs,
          wallStepMs: () => clock.wallStepMs() - aheadMs,
          sleep: clock.sleep,
        }
      }
      let own = begin()
      let life = await world.live({ clock: own })
      life.join('ann')
      let waitedMs = 0
      for (const one of acts) {
        if (one === 'restart') {
          // Each tick stores how far the wall clock was set, so run one before the restart.
          await life.run(250)
          waitedMs += 250
          world.kill()
          own = begin()
          life = await world.live({ clock: own })
        } else if ('setBy' in one) clock.step(one.setBy)
        else {
          await life.run(one.pass)
          waitedMs += one.pass
        }
      }
      const wall = clock.now() + clock.wallStepMs()
      const ticket = life.matchmaker.getTicket('ann')
      if (waitedMs >= EXPIRES_MS) return expect(ticket?.status).not.toBe('SEARCHING')
      expect(ticket).toMatchObject({ status: 'SEARCHING' })
      expect(life.matchmaker.explain('ann').waitedMs).toBe(waitedMs)
      // Dates follow the present wall clock.
      expect(life.matchmaker.dateOf()).toBe(wall)
      expect(dateOf(own)).toBe(wall)
      if (ticket === undefined) throw new Error('the ticket is gone')
      const view = ticketView({ ticket, index: 0 }, life.matchmaker)
      expect(Date.parse(view.created_at)).toBe(Math.floor(wall - waitedMs))
      const assignment = { server: 's1', fqdn: 'x.example.com', ports: {}, publicIp: undefined, location: undefined }
      const assigned = { ...ticket, status: 'HOST_ASSIGNED' as const, matchId: 'm1', assignment }
      const [, claims = ''] = life.matchmaker.joinToken(assigned, 'ann')?.split('.') ?? []
      const { iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, number>
      expect([iat, exp]).toEqual([Math.floor(wall / 1000), Math.floor(wall / 1000) + 300])
      return undefined
    }),
    { numRuns: 40 },
  )
})
