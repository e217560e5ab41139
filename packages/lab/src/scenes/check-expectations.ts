import type { CancelReason, Queue } from '@muster/matchmaker'
import { type CheckedTickets, comparedAttributes, teamNames } from './check-tickets.js'
import type { Checking, FieldPath } from './checking.js'
import { type ExpectationForm, expectationSchema, happeningSchema } from './scene-schema.js'
import {
  durationWords,
  type Expectation,
  type Expected,
  type ExpectedTeam,
  type Happening,
  LONGEST_MS,
  type SceneMoment,
  momentOf,
  TOO_LONG,
  WAITS_FOR_PLAYERS,
  WAITS_FOR_QUEUE,
} from './scene.js'

/** What the events and expectations of a scene may refer to: the queues, and the tickets with their names. */
interface MomentGround {
  readonly checking: Checking
  readonly queues: readonly Queue[]
  readonly known: CheckedTickets
}

/** Parses a moment, e.g. `after 12s`. Returns undefined if it is invalid, and reports the fault. */
function checkMoment(text: string, path: FieldPath, example: string, checking: Checking): SceneMoment | undefined {
  const moment = momentOf(text)
  if (moment === undefined) checking.faultOfName(path, `is not a moment: write e.g. ${example}`)
  else if (moment.at > LONGEST_MS) checking.faultOfName(path, TOO_LONG)
  return moment
}

/** Returns the ids of the tickets that a name denotes. Reports a fault if they have not come by the moment. */
function checkName(
  name: string,
  moment: SceneMoment,
  path: FieldPath,
  { checking, known }: MomentGround,
): readonly string[] {
  const ids = known.ids.get(name)
  if (ids === undefined) {
    checking.unknown(path, name, 'ticket of this scene', known.ids.keys())
    return []
  }
  if (!checking.mayName(ids.length)) return []
  const late = known.last.get(name)
  if (late !== undefined && late.at > moment.at)
    checking.fault(path, `names ticket ${late.id}, which comes only at ${durationWords(late.at)}`)
  return ids
}

/** Parses and validates the events of a scene. */
export function checkHappenings(
  given: Readonly<Record<string, unknown>>,
  path: FieldPath,
  ground: MomentGround,
): readonly Happening[] {
  const { checking, queues } = ground
  const queueNames = queues.map(({ name }) => name)
  const all = Object.entries(given).flatMap(([text, value]): Happening[] => {
    const here = [...path, text]
    const moment = checkMoment(text, here, 'after 5s', checking)
    if (moment?.when === 'by') checking.faultOfName(here, 'must happen at an exact time: write after in place of by')
    const form = checking.read(happeningSchema, value, here)
    if (moment === undefined || form === undefined) return []
    const happenings = Object.entries(form) as [Happening['what'], readonly string[]][]
    if (happenings.length === 0) checking.fault(here, 'is empty: write what happens, e.g. cancel: a')
    return happenings.map(([what, names]) => {
      const place = [...here, what]
      if (what !== 'pause' && what !== 'resume')
        return {
          at: moment.at,
          path: place,
          what,
          names: names.flatMap((name) => checkName(name, moment, place, ground)),
        }
      for (const name of names)
        if (!queueNames.includes(name)) checking.unknown(place, name, 'queue of the file of queues', queueNames)
      return { at: moment.at, path: place, what, names }
    })
  })
  return all.toSorted((one, other) => one.at - other.at)
}

/** The reasons for a ticket's end that can occur in a scene. */
const ENDS: readonly CancelReason[] = [
  'cancelled',
  'expired',
  'declined',
  'not-accepted',
  'elsewhere',
  'dissolved',
  'attempts',
]

/** Parses and validates the expectations of a scene, in the order of the file. */
export function checkExpectations(
  given: Readonly<Record<string, unknown>>,
  path: FieldPath,
  ground: MomentGround,
): readonly Expectation[] {
  return Object.entries(given).flatMap(([text, value]): Expectation[] => {
    const here = [...path, text]
    const moment = checkMoment(text, here, 'after 12s or by 20s', ground.checking)
    const form = ground.checking.read(expectationSchema, value ?? {}, here)
    if (form === undefined || moment === undefined) return []
    if (Object.keys(form).length === 0)
      ground.checking.fault(here, 'is empty: write what is expected, e.g. matched: [a, b]')
    const fields = Object.keys(value ?? {}) as (keyof ExpectationForm)[]
    return fields.flatMap((field) => {
      const place = [...here, field]
      if (moment.when === 'by' && !COME_TRUE.includes(field))
        ground.checking.faultOfName(place, 'cannot become true later: write after in place of by')
      const words = `${text}: ${field}: ${shown((value as Readonly<Record<string, unknown>>)[field])}`
      const expected = READERS[field](form, place, { ...ground, moment })
      return expected.map((one): Expectation => ({ ...one, ...moment, path: place, text: words }))
    })
  })
}

/** The kinds of expectations that are false at first and may become true later. */
const COME_TRUE: readonly (keyof ExpectationForm)[] = ['matched', 'together', 'teams', 'ended', 'matches', 'within']

interface ReadingGround extends MomentGround {
  readonly moment: SceneMoment
}
type ExpectationReader = (form: ExpectationForm, path: FieldPath, ground: ReadingGround) => readonly Expected[]

const READERS: Readonly<Record<keyof ExpectationForm, ExpectationReader>> = {
  matched: ({ matched = [] }, path, ground) => {
    const alone = matched.flatMap((one, index) =>
      typeof one === 'string' ? named([one], [...path, String(index)], ground) : [],
    )
    const lists = matched.flatMap((one, index) =>
      typeof one === 'string' ? [] : [named(one, [...path, String(index)], ground)],
    )
    return [
      ...(alone.length === 0 ? [] : [{ kind: 'matched' as const, tickets: alone }]),
      ...lists.map((tickets) => ({ kind: 'exactly' as const, tickets })),
    ]
  },
  'not matched': ({ 'not matched': names = [] }, path, ground) => [
    { kind: 'unmatched', tickets: named(names, path, ground) },
  ],
  together: ({ together = [] }, path, ground) => ofSeveral('together', together, path, ground),
  apart: ({ apart = [] }, path, ground) => ofSeveral('apart', apart, path, ground),
  waiting: ({ waiting = [] }, path, ground) =>
    waiting.map(([name, why]) => {
      if (why !== undefined) checkReason(why, [...path, name], ground)
      return { kind: 'waiting', tickets: named([name], [...path, name], ground), why }
    }),
  refused: ({ refused = [] }, path, ground) =>
    refused.map(([name, why]) => ({ kind: 'refused', tickets: named([name], [...path, name], ground), why })),
  ended: ({ ended = {} }, path, ground) =>
    Object.entries(ended).map(([name, reason]) => {
      const end = reason as CancelReason
      if (!ENDS.includes(end)) ground.checking.unknown([...path, name], reason, 'end of a ticket', ENDS)
      return { kind: 'ended', tickets: named([name], [...path, name], ground), reason: end }
    }),
  teams: ({ teams = [] }, path, ground) => [{ kind: 'teams', teams: checkTeams(teams, path, ground) }],
  matches: ({ matches = 0 }, path, { checking, moment }) => {
    const { min = 0, max = Infinity } = typeof matches === 'number' ? { min: matches, max: matches } : matches
    if (min > max) checking.fault(path, 'has a min above its max')
    if (moment.when === 'by' && min === 0)
      checking.fault(path, 'is true from the beginning: write after in place of by, or a number from 1')
    return [{ kind: 'matches', min, max }]
  },
  within: ({ within = 0, matched = [], together = [] }, path, ground) => {
    const names = [...matched, ...together].flat()
    if (names.length === 0) ground.checking.fault(path, 'needs matched or together next to it, to name the tickets')
    return [{ kind: 'within', tickets: names.flatMap((name) => ground.known.ids.get(name) ?? []), ms: within }]
  },
  balance: ({ balance = {} }, path, ground) => ofAttributes('balance', balance, path, ground),
  spread: ({ spread = {} }, path, ground) => ofAttributes('spread', spread, path, ground),
}

const named = (names: readonly string[], path: FieldPath, ground: ReadingGround): readonly string[] => [
  ...new Set(names.flatMap((name, index) => checkName(name, ground.moment, [...path, String(index)], ground))),
]

/**
 * Collects the groups of an expectation. All names outside of lists form one group. Each list of names is a group too.
 */
function ofSeveral(
  kind: 'together' | 'apart',
  groups: readonly (string | readonly string[])[],
  path: FieldPath,
  ground: ReadingGround,
): Expected[] {
  const alone = groups.filter((one) => typeof one === 'string')
  const lists = groups.map((one, index) => ({ names: one, place: [...path, String(index)] }))
  const all = [
    ...(alone.length > 0 ? [{ names: alone, place: path }] : []),
    ...lists.flatMap(({ names, place }) => (typeof names === 'string' ? [] : [{ names, place }])),
  ]
  return all.map(({ names, place }) => {
    const tickets = named(names, place, ground)
    const areKnown = names.every((name) => ground.known.ids.has(name))
    if (tickets.length === 1 && areKnown) ground.checking.fault(place, 'names one ticket, but needs at least two')
    return { kind, tickets }
  })
}

function checkReason(why: string, path: FieldPath, { checking, queues }: ReadingGround): void {
  const rules = [...new Set(queues.flatMap((queue) => queue.rules.map(({ name }) => name)))]
  const known = [...rules, WAITS_FOR_PLAYERS, WAITS_FOR_QUEUE]
  if (known.includes(why)) return
  // The rules are listed, because a rule's default name does not occur in the queue's file.
  const list = checking.near(why, known) === undefined && rules.length > 0 ? ` (${rules.join(', ')})` : ''
  checking.unknown(path, why, `rule${list}, nor players or paused`, known)
}

function checkTeams(
  teams: NonNullable<ExpectationForm['teams']>,
  path: FieldPath,
  ground: ReadingGround,
): readonly ExpectedTeam[] {
  if (Array.isArray(teams))
    return teams.map((names, index) => ({ tickets: named(names, [...path, String(index)], ground) }))
  const known = ground.queues.flatMap(teamNames)
  return Object.entries(teams).map(([name, names]) => {
    if (!known.includes(name)) ground.checking.unknown([...path, name], name, 'team', known)
    return { name, tickets: named(names, [...path, name], ground) }
  })
}

function ofAttributes(
  kind: 'balance' | 'spread',
  limits: Readonly<Record<string, number>>,
  path: FieldPath,
  { checking, queues, known }: ReadingGround,
): Expected[] {
  const players = known.tickets.flatMap((ticket) => ticket.players)
  const own = players.flatMap((player) => Object.keys(player.attributes ?? {}))
  const attributes = new Set([...comparedAttributes(queues), ...own])
  return Object.entries(limits).map(([attribute, most]) => {
    const place = [...path, attribute]
    if (!attributes.has(attribute)) checking.unknown(place, attribute, 'attribute of a ticket', [...attributes])
    else if (!players.some((player) => typeof player.attributes?.[attribute] === 'number'))
      checking.fault(place, 'is a number of no player in this scene, so it would always be true')
    return { kind, attribute, most }
  })
}

/** Maximum number of characters of a shown value. */
const LONGEST = 80

/** Returns a value as one line of YAML, shortened to `LONGEST` characters. */
function shown(value: unknown): string {
  const text = flow(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{ ${Object.entries(value)
    .map(([key, inner]) => `${key}: ${flow(inner)}`)
    .join(', ')} }`
}
