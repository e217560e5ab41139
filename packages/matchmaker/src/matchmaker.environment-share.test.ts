import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setUp as setUpMatchmaker } from './matchmaker.fixture.js'
import {
  bytesOfTicket,
  deploySchema,
  type FoundTicket,
  LARGEST_ENVIRONMENT_BYTES,
  matchEnvironment,
  oversized,
  roughBytesOfTicket,
  shareOf,
  type ServerSettings,
  variablesBytes,
} from '@muster/hosting/internal'

// Mostly short values, because tickets at the size limit are rarely accepted.
const short = { size: 'small' } as const
const name = fc.oneof(
  fc.string({ minLength: 1, maxLength: 128, ...short }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 128, ...short }),
  fc.constant('\u0000'.repeat(128)),
)
const list = fc.array(name, { maxLength: 40, ...short })
const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), name, list)
const attributes = fc.dictionary(fc.oneof(name, fc.constantFrom('maps', 'mode')), value, { maxKeys: 20, ...short })
const ticket: fc.Arbitrary<FoundTicket> = fc.record({
  id: fc.stringMatching(/^[\w-]{1,64}$/),
  createdAt: fc.constant(1_800_000_000_000),
  players: fc.array(fc.record({ id: name, attributes }), { minLength: 1, maxLength: 5 }),
})

const settings = (players: number): ServerSettings => ({
  queue: 'ranked "5v5"',
  deploy: deploySchema.parse({
    application: 'game',
    version: '1',
    environment: { A: 'x'.repeat(4000) },
    hiddenEnvironment: { B: 'y'.repeat(4000) },
  }),
  teams: Array.from({ length: players }, (_, index) => `team-${index + 1}`),
  players,
  common: ['maps', 'mode'],
})

test('the estimated size of a ticket in a server’s environment is never below its exact size', () => {
  fc.assert(
    fc.property(ticket, fc.constantFrom([], ['maps', 'mode']), (one, common) => {
      expect(roughBytesOfTicket(one, { queue: 'duel', common })).toBeGreaterThanOrEqual(
        bytesOfTicket(one, { queue: 'duel', common }),
      )
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 200 },
  )
})

/** Creates a ticket of one player with attributes of this length. */
function ofLength(id: number, length: number, character: string): FoundTicket {
  const list = Array.from({ length: Math.floor(length / 100) }, (_, index) => `${index}`.padStart(100, character))
  const number = `${id}`.padStart(3, '0')
  return {
    id: `t${number}`.padEnd(64, 'x'),
    createdAt: 1_800_000_000_000,
    players: [{ id: `p${number}`, attributes: { maps: list, rest: character.repeat(length % 100) } }],
  }
}

/** Creates tickets of one player that each fill nearly their whole share. All ids have the same length. */
function filled(count: number, mayTake: number, about: Pick<ServerSettings, 'queue' | 'common'>, character: string) {
  const fits = (length: number) => bytesOfTicket(ofLength(0, length, character), about) <= mayTake
  let length = 0
  for (let step = 2 ** 16; step >= 1; step /= 2) if (fits(length + step)) length += step
  return Array.from({ length: count }, (_, id) => ofLength(id, length, character))
}

test.each([
  [2, 'x'],
  [10, 'x'],
  [17, '\u0000'],
  [40, 'é'],
  [100, '𝒳'],
  [300, 'x'],
])(
  'a match of %i players fits into the server’s environment even if each player fills their share with %j',
  (players, character) => {
    const about = settings(players)
    const share = shareOf(about)
    const tickets = filled(players, share, about, character)
    const environment = matchEnvironment({
      id: 'm'.repeat(21),
      queue: about.queue,
      tickets,
      teams: about.teams.map((team, index) => ({ name: team, ticketIds: [tickets[index]?.id ?? ''] })),
      foundAt: 0,
      expansionMs: 123_456.789,
      equality: {},
      intersection: { maps: tickets[0]?.players[0]?.attributes?.['maps'] as string[] },
    })
    const own = variablesBytes([
      { key: 'A', value: 'x'.repeat(4000) },
      { key: 'B', value: 'y'.repeat(4000) },
    ])
    const bytes = variablesBytes(environment) + own
    expect(bytes).toBeLessThanOrEqual(LARGEST_ENVIRONMENT_BYTES)
    // Common attributes are counted for each ticket although the environment contains them once. So up to half of the
    // environment stays free.
    expect(bytes).toBeGreaterThan(0.5 * LARGEST_ENVIRONMENT_BYTES)
  },
)

test('any accepted tickets of one match fit together into the environment of its server', () => {
  fc.assert(
    fc.property(fc.array(ticket, { minLength: 1, maxLength: 60 }), (given) => {
      const tickets = given.map((one, index) => ({ ...one, id: `${index}-${one.id}`.slice(0, 64) }))
      const players = tickets.reduce((sum, one) => sum + one.players.length, 0)
      const about = settings(players)
      const share = shareOf(about)
      const waiting = tickets.filter((one) => bytesOfTicket(one, about) <= share * one.players.length)
      const found = {
        id: 'm',
        queue: about.queue,
        tickets: waiting,
        teams: [{ name: 'team-1', ticketIds: waiting.map(({ id }) => id) }],
        foundAt: 0,
        expansionMs: 0,
        equality: {},
        intersection: {},
      }
      expect(variablesBytes(matchEnvironment(found))).toBeLessThanOrEqual(LARGEST_ENVIRONMENT_BYTES - 8000)
      expect(oversized(found)).toEqual([])
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 40 },
  )
})

test('a match too large for its server’s environment costs an attempt only of the oversized tickets', async () => {
  const hidden = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`V${index}`, 'x'.repeat(4000)]))
  const queue = { name: 'duel', matchSize: 3, deploy: { application: 'game', version: '1', hiddenEnvironment: hidden } }
  const { matchmaker, seen, run } = setUpMatchmaker({ queues: [queue] })
  const wait = (id: string, lists: number) => {
    const list = Array.from({ length: 128 }, (_, index) => String(index).padStart(128, 'x'))
    const large = Object.fromEntries(Array.from({ length: lists }, (_, index) => [`a${index}`, list]))
    matchmaker.createTicket({ id, queue: 'duel', players: [{ id, ip: '198.51.100.7', attributes: large }] })
  }
  wait('small', 0)
  wait('medium', 4)
  wait('large', 8)
  await run(250)
  expect(seen.problem?.[0]).toMatchObject({ error: { name: 'MatchTooLarge', ticketIds: ['large'] } })
  expect(seen.ticketRequeued?.map(({ ticket: { id, attempts } }) => [id, attempts])).toEqual(
    expect.arrayContaining([
      ['small', 0],
      ['medium', 0],
      ['large', 1],
    ]),
  )
})
