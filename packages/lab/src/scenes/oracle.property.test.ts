import { defineQueue } from '@muster/matchmaker'
import { allMatch, pairQueues, tickets, type RuleTicket } from '@muster/matchmaker/rules-oracle'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkScenes } from './check-scenes.js'
import { TICK_MS } from './play.js'
import { runScenes } from './run-scenes.js'

/** Milliseconds by which a match that depends on waiting times may be found late. */
const LATE_MS = 1250

/** All players have a location, because unknown locations would be looked up. */
const PLACE = { latitude: 50, longitude: 10 }

const scenes = fc.record({
  queue: pairQueues,
  // A party of two players is already a match.
  drafts: tickets(2)
    .filter((all) => all.length === 2)
    .map((all) => all.map((ticket) => ({ ...ticket, players: ticket.players.slice(0, 1) }))),
  comesAfter: fc.integer({ min: 0, max: 12 }).map((quarters) => quarters * TICK_MS),
  looksAfter: fc.integer({ min: 0, max: 24 }).map((quarters) => quarters * TICK_MS),
})

/** Writes a ticket of single players in a scene's format. */
const written = ({ players, priority }: RuleTicket, at: number) => ({
  at: `${at}ms`,
  priority,
  players: players.map(({ id, attributes, roles, avoid, latencies }) => ({
    id,
    attributes,
    coordinates: PLACE,
    ...(roles.length > 0 && { roles }),
    ...(Object.keys(latencies).length > 0 && { latencies }),
    // Of the ids to avoid, a scene can name only players in it.
    ...(avoid.some((one) => KNOWN.test(one)) && { avoid: avoid.filter((one) => KNOWN.test(one)) }),
  })),
})

const KNOWN = /^t[01]\.0$/

test('two tickets match in a scene exactly if a simple check of the rules allows their match (property)', async () => {
  let [allowed, forbidden] = [0, 0]
  await fc.assert(
    fc.asyncProperty(scenes, async ({ queue, drafts, comesAfter, looksAfter }) => {
      const comes = [0, comesAfter]
      const at = comesAfter + looksAfter
      const judged = drafts.map((ticket, index) => ({ ...ticket, place: PLACE, createdAt: comes[index] ?? 0 }))
      const times = Array.from({ length: looksAfter / TICK_MS + 1 }, (_, index) => comesAfter + index * TICK_MS)
      const may = times.filter((now) => allMatch(queue, judged, now))
      const isAllowed = times.every((now) => now <= at - LATE_MS || may.includes(now)) && looksAfter >= LATE_MS
      // If a match is possible only at some of these times, either result may be right.
      if (!isAllowed && may.length > 0) return

      const [a, b] = drafts.map((ticket, index) => written(ticket, comes[index] ?? 0))
      const expected = { matched: [['a', 'b']], 'not matched': ['a', 'b'] }
      const file = { scenes: [{ name: 'pair', tickets: { a, b }, expect: { [`after ${at}ms`]: expected } }] }
      const { scenes: checked, faults } = checkScenes(file, [defineQueue(queue)])
      expect(faults).toEqual([])
      const [result] = await runScenes(checked)
      const failed = result?.failures.map(({ expected: one }) => one.split(': ')[1])
      expect(failed).toEqual(isAllowed ? ['not matched'] : ['matched'])
      if (isAllowed) allowed += 1
      else forbidden += 1
    }),
    { numRuns: 15 },
  )
  expect(allowed).toBeGreaterThan(1)
  expect(forbidden).toBeGreaterThan(1)
})
