import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPool, type Slot } from '@muster/kernel'
import { compileQueue } from '../compile.js'
import { defineQueue, type QueueDefinition } from '../queue.js'
import { NOW, queues, tickets } from './arbitraries.fixture.js'
import { kinds } from './rule-arbitraries.fixture.js'
import type { RuleTicket } from '../rule-parts/rule-types.js'
import { isLastResort } from './oracle-limits.fixture.js'
import { admitted, allMatch, anyMatch, matchesOf, openingOf, type RunningMatch } from './scene.fixture.js'

/**
 * Tests that no legal match is missed. After each round, an exhaustive search by the oracle must find neither a match
 * among the remaining tickets nor one that could join a running match. It also tests priorities: no remaining ticket
 * may be able to replace a ticket of the same size and a lower priority in its match, except in matches of last resort.
 */

interface Scene {
  readonly definition: QueueDefinition
  readonly waiting: readonly RuleTicket[]
  /** For each ticket, the round in which it arrives, of three. */
  readonly comes: readonly number[]
  /** Tickets that are in a running match instead of waiting. */
  readonly playing: readonly number[]
  readonly step: number
}

const scenesOf = (definitions: fc.Arbitrary<QueueDefinition>): fc.Arbitrary<Scene> =>
  fc.record({
    definition: definitions,
    waiting: prioritized(tickets(6)),
    comes: fc.array(fc.constantFrom(0, 0, 1, 2), { minLength: 6, maxLength: 6 }),
    playing: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.uniqueArray(fc.nat(5), { maxLength: 1 }) },
    ),
    step: fc.constantFrom(0, 1, 5),
  })

/** Generates tickets that in half of the scenes have different priorities. */
const prioritized = (some: fc.Arbitrary<RuleTicket[]>) =>
  fc
    .tuple(some, fc.boolean(), fc.array(fc.integer({ min: -2, max: 2 }), { minLength: 6, maxLength: 6 }))
    .map(([all, mixed, priorities]) =>
      all.map((ticket, index) => (mixed ? { ...ticket, priority: priorities[index] ?? 0 } : ticket)),
    )

/** If a check of the whole match depends on waits, the kernel repeats it every second. */
const ROUND_MS = 1000
/** Between two rounds limits relax, so arriving tickets meet both relaxed and unrelaxed ones. */
const LONG_ROUND_MS = 3000

interface Outcome {
  readonly missed: string[]
  readonly passedOver: string[]
  readonly made: number
  readonly filled: number
}

function play({ definition, waiting, comes, playing, step }: Scene, roundMs: number): Outcome {
  const compiled = compileQueue(defineQueue(definition))
  const pool = createPool(compiled.model)
  const inSlot = new Map<Slot, RuleTicket>()
  const openings = new Map<Slot, RunningMatch>()
  const missed: string[] = []
  const passedOver: string[] = []
  let [made, filled] = [0, 0]
  for (let round = 0; round < 4; round += 1) {
    const now = NOW + round * roundMs
    for (const [index, ticket] of waiting.entries()) {
      if (comes[index] !== round) continue
      if (playing.includes(index)) {
        const opening = openingOf(compiled, ticket, index)
        if (opening === undefined) continue
        openings.set(pool.addOpening(opening), { ticket, team: opening.present.findIndex((team) => team.length > 0) })
        continue
      }
      const entry = admitted(() => compiled.entryOf(ticket))
      if (entry !== undefined) inSlot.set(pool.add(entry), ticket)
    }
    const matches: { readonly members: RuleTicket[]; readonly running: RunningMatch | undefined }[] = []
    for (const { slots, opening } of matchesOf(pool, now, step)) {
      if (opening === undefined) made += 1
      else filled += 1
      const members = slots.flatMap((slot) => inSlot.get(slot) ?? [])
      matches.push({ members, running: opening === undefined ? undefined : openings.get(opening) })
      for (const slot of slots) {
        pool.remove(slot)
        inSlot.delete(slot)
      }
      if (opening === undefined) continue
      pool.removeOpening(opening)
      openings.delete(opening)
    }
    const left = [...inSlot.values()]
    for (const { members, running } of matches) {
      // A ticket's last resort counts only once it is in the match.
      if (isLastResort(definition, members, now)) continue
      for (const ticket of left) {
        const instead = members.find((member) => {
          if (member.priority >= ticket.priority || member.players.length !== ticket.players.length) return false
          return allMatch(definition, members.with(members.indexOf(member), ticket), now, running)
        })
        if (instead !== undefined) passedOver.push(`round ${round}: ${ticket.id} could be in place of ${instead.id}`)
      }
    }
    if (anyMatch(definition, left, now)) missed.push(`round ${round}: a match of ${left.map(({ id }) => id).join()}`)
    for (const running of openings.values()) {
      if (anyMatch(definition, left, now, running))
        missed.push(`round ${round}: ${left.map(({ id }) => id).join()} into the match of ${running.ticket.id}`)
    }
  }
  return { missed, passedOver, made, filled }
}

// Few scenes, to save time: `pnpm fuzz` tries others.
test.each([
  ['any rules', queues(kinds, 2), 120, 24, ROUND_MS],
  [
    'rules about the whole match',
    queues(['balance', 'compare', 'custom', 'roles', 'any', 'all', 'not'], 3),
    120,
    24,
    ROUND_MS,
  ],
  ['roles, and limits that relax', queues(['roles', 'difference', 'distance'], 3), 120, 16, LONG_ROUND_MS],
] as const)('property: a match is made whenever one is possible: %s', (_, definitions, numRuns, least, roundMs) => {
  let [made, filled] = [0, 0]
  fc.assert(
    fc.property(scenesOf(definitions), (scene) => {
      const outcome = play(scene, roundMs)
      made += outcome.made
      filled += outcome.filled
      expect({ missed: outcome.missed, passedOver: outcome.passedOver }).toEqual({ missed: [], passedOver: [] })
    }),
    { numRuns },
  )
  // A run with few matches would prove nothing.
  expect(made).toBeGreaterThan(least)
  expect(filled).toBeGreaterThan(least / 10)
})
