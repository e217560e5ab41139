import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPool, type Slot } from '@muster/kernel'
import { defineQueue, type QueueDefinition } from '../queue.js'
import { NOW, queues, targeted, tickets } from './arbitraries.fixture.js'
import { kinds } from './rule-arbitraries.fixture.js'
import { regionIn, REGIONS } from '../../wait-times/regions.js'
import { compileQueue } from '../compile.js'
import type { RuleTicket } from '../rule-parts/rule-types.js'
import { brokenRules, wrongSizes } from './oracle.fixture.js'
import type { JudgedTeam } from './oracle-limits.fixture.js'
import { admitted, kindsOfTeams, matchesOf, openingOf, type RunningMatch } from './scene.fixture.js'

/**
 * Tests the whole path from a queue's definition to matches of the kernel against the oracle, which uses neither
 * compiled rules nor the kernel.
 */

interface Scene {
  readonly definition: QueueDefinition
  readonly waiting: readonly RuleTicket[]
  /** For each ticket, the round in which it arrives, of three. */
  readonly comes: readonly number[]
  /** The tickets that are in a running match instead of waiting. */
  readonly playing: readonly number[]
  /** Units of work per step of a round; 0 for the whole round at once. */
  readonly step: number
}

const scenes: fc.Arbitrary<Scene> = fc.record({
  definition: queues(kinds, 3),
  waiting: tickets(8),
  comes: fc.array(fc.nat(2), { minLength: 8, maxLength: 8 }),
  playing: fc.oneof(fc.constant([]), fc.uniqueArray(fc.nat(7), { maxLength: 2 })),
  step: fc.constantFrom(0, 1, 5),
})

/** Plays a scene, and calls back with each match and the tickets that were in it before. */
function play(
  scene: Scene,
  see: (match: JudgedTeam[], playing: readonly RuleTicket[], now: number) => void,
  headStarts = new Float64Array(0),
): void {
  const { definition, waiting, comes, playing, step } = scene
  const compiled = compileQueue(defineQueue(definition))
  const pool = createPool(compiled.model)
  pool.setHeadStarts(headStarts)
  const kindOf = kindsOfTeams(definition)
  const inSlot = new Map<Slot, RuleTicket>()
  const openings = new Map<Slot, RunningMatch>()
  for (let round = 0; round < 3; round += 1) {
    const now = NOW + round * 700
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
    const matched: Slot[] = []
    for (const { slots, teams, opening } of matchesOf(pool, now, step)) {
      const there = opening === undefined ? undefined : openings.get(opening)
      const match = kindOf.map((kind, team) => {
        const joined = slots.flatMap((slot, at) => (teams[at] === team ? (inSlot.get(slot) ?? []) : []))
        return { kind, tickets: there?.team === team ? [there.ticket, ...joined] : joined }
      })
      see(match, there ? [there.ticket] : [], now)
      expect(match.flatMap(({ tickets }) => tickets)).toHaveLength(slots.length + (there ? 1 : 0))
      matched.push(...slots)
      for (const slot of slots) {
        pool.remove(slot)
        inSlot.delete(slot)
      }
      if (opening !== undefined) {
        pool.removeOpening(opening)
        openings.delete(opening)
      }
    }
    expect(new Set(matched).size).toBe(matched.length)
  }
}

test('property: no match breaks a rule, for any rules, parties and waits', () => {
  let [matches, filled] = [0, 0]
  fc.assert(
    fc.property(scenes, (scene) => {
      play(scene, (match, playing, now) => {
        matches += 1
        filled += playing.length
        expect(brokenRules(scene.definition, match, now, playing)).toEqual([])
        const sizes = wrongSizes(scene.definition, match, now)
        // A running match takes any number of players, as long as there is room.
        expect(playing.length === 0 ? sizes : sizes.filter((wrong) => wrong.includes('>'))).toEqual([])
      })
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 200 },
  )
  // A run with few matches would prove nothing.
  expect(matches).toBeGreaterThan(120)
  expect(filled).toBeGreaterThan(10)
})

test('property: no match breaks a limit in force, where limits follow a target wait', () => {
  let [matches, adaptive] = [0, 0]
  const headStart = fc.constantFrom(-1000, 0, 900, 2500, 6000)
  fc.assert(
    fc.property(scenes, fc.tuple(headStart, headStart), (scene, [here, elsewhere]) => {
      const definition = targeted(scene.definition)
      if (definition.targetWaitMs === undefined) return
      adaptive += 1
      const headStarts = new Float64Array(REGIONS + 1).fill(elsewhere)
      headStarts[regionIn({ latitude: 45, longitude: 179 })] = here
      const see = (match: JudgedTeam[], playing: readonly RuleTicket[], now: number) => {
        matches += 1
        // A running match has no head start: it keeps the limits with which it was made.
        const headStartOf = ({ id, place }: RuleTicket) =>
          playing.some((ticket) => ticket.id === id) ? 0 : (headStarts[regionIn(place)] ?? 0)
        expect(brokenRules(definition, match, now, playing, headStartOf)).toEqual([])
        if (playing.length === 0) expect(wrongSizes(definition, match, now, headStartOf)).toEqual([])
      }
      play({ ...scene, definition }, see, headStarts)
    }),
    { numRuns: 100 },
  )
  expect(adaptive).toBeGreaterThan(30)
  expect(matches).toBeGreaterThan(30)
})
