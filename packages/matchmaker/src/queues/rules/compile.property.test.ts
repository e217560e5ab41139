import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidTicket } from '../../errors.js'
import { defineQueue, type QueueDefinition } from '../queue.js'
import { NOW, queues, targeted, tickets } from './arbitraries.fixture.js'
import { kinds } from './rule-arbitraries.fixture.js'
import { type CompiledQueue, compileQueue } from '../compile.js'
import type { RuleDefinition } from './definition.js'
import type { RuleTicket } from '../rule-parts/rule-types.js'
import { levelsOf, modelAllows } from './judge.fixture.js'
import { brokenRules } from './oracle.fixture.js'
import { isLastResort } from './oracle-limits.fixture.js'
import { namesOf } from '../rule-parts/teams.js'

/** Puts each ticket into the first team with room, from a random team on, and leaves out tickets that fit nowhere. */
function seat(compiled: CompiledQueue, waiting: readonly RuleTicket[], choices: readonly number[]): RuleTicket[][] {
  const { teams } = compiled.model
  const seated: RuleTicket[][] = teams.map(() => [])
  const room = teams.map(({ max }) => max)
  for (const [index, ticket] of waiting.entries()) {
    const order = teams.map((_, team) => (team + (choices[index] ?? 0)) % teams.length)
    const team = order.find((team) => (room[team] ?? 0) >= ticket.players.length)
    if (team === undefined) continue
    seated[team]?.push(ticket)
    room[team] = (room[team] ?? 0) - ticket.players.length
  }
  return seated
}

const kindsOf = ({ teams = [] }: QueueDefinition) => teams.flatMap((team) => namesOf(team).map(() => team.name))

/** True if the compiled queue allows the match; false also if it refuses a ticket. */
function allows(compiled: CompiledQueue, match: readonly (readonly RuleTicket[])[]): boolean {
  try {
    return modelAllows(
      compiled,
      match.map((team) => team.map(compiled.entryOf)),
      NOW,
    )
  } catch (error) {
    if (error instanceof InvalidTicket) return false
    throw error
  }
}

const choices = fc.array(fc.nat(5), { minLength: 6, maxLength: 6 })

const agree = (
  of: readonly RuleDefinition['kind'][],
  maxRules: number,
  numRuns: number,
  change: (queue: QueueDefinition) => QueueDefinition = (queue) => queue,
) => {
  let [allowed, all] = [0, 0]
  fc.assert(
    fc.property(queues(of, maxRules).map(change), tickets(5), choices, (definition, waiting, choices) => {
      const compiled = compileQueue(defineQueue(definition))
      const match = seat(compiled, waiting, choices)
      if (match.flat().length === 0) return
      const names = kindsOf(definition)
      const broken = brokenRules(
        definition,
        match.map((tickets, team) => ({ kind: names[team] ?? '', tickets })),
        NOW,
      )
      expect(allows(compiled, match), `broken: ${broken.join()}`).toBe(broken.length === 0)
      all += 1
      if (broken.length === 0) allowed += 1
    }),
    { numRuns },
  )
  return allowed / all
}

describe('property: compiled rules agree with their definitions', () => {
  test.each(kinds)('property: a compiled rule allows the matches that its definition allows: %s', (kind) => {
    const share = agree([kind], 2, 100)
    // Both outcomes are frequent.
    expect(share).toBeGreaterThan(0.1)
    expect(share).toBeLessThan(0.9)
  })

  test('property: a queue’s compiled rules together allow the matches that their definitions allow', () => {
    expect(agree(kinds, 4, 250)).toBeGreaterThan(0.1)
  })

  test('property: with a target wait, compiled rules together allow the matches that their definitions allow', () => {
    expect(agree(kinds, 4, 120, targeted)).toBeGreaterThan(0.1)
  })
})

test('property: the check of incomplete matches rejects no part of an allowed match', () => {
  const staying = fc.array(fc.boolean(), { minLength: 5, maxLength: 5 })
  fc.assert(
    fc.property(queues(kinds, 3), tickets(5), choices, staying, (definition, waiting, choices, stays) => {
      const compiled = compileQueue(defineQueue(definition))
      const { model } = compiled
      const match = seat(compiled, waiting, choices)
      if (match.flat().length === 0 || !allows(compiled, match)) return
      const part = match.map((team) => team.filter((ticket) => stays[waiting.indexOf(ticket)]))
      const [many, few] = [match.flat(), part.flat()]
      // A ticket at last resort may allow what the others do not, so a match with it must grow from that ticket.
      if (few.length === 0 || isLastResort(definition, many, NOW) !== isLastResort(definition, few, NOW)) return
      const entries = part.map((team) => team.map(compiled.entryOf))
      const facts = entries.map((team) => team.map((entry) => entry.facts))
      const sizes = part.map((team) => team.flatMap(({ players }) => players).length)
      const rooms = model.teams.map(({ max }, team) => max - (sizes[team] ?? 0))
      expect(model.checks?.part?.(facts, rooms, levelsOf(model, entries.flat(), NOW)) ?? true).toBe(true)
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 250 },
  )
})
