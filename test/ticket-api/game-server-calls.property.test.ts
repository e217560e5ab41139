/** Whatever the game server package accepts from the game, Muster accepts: a refused report ends the server. */
import { createManualClock } from '@muster/core/clock'
import {
  createGameServer,
  type GameServerOptions,
  InvalidCall,
  type Listing,
  type MatchResult,
} from '@muster/game-server'
import { RegistrationBody, ReportBody } from '@muster/matchmaker/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const match = { id: 'm1', profile: 'duel', teams: [{ name: 'red', players: ['ann', 'ben'].map(player) }] }
const orders = { version: 1, want: 'run', matches: [match] }
const registered = { ...orders, id: 's1', alg: 'HS256', key: 'AAAA', retire_at: null }
function player(id: string) {
  return { id, ticket_id: `t-${id}`, seat_id: `s-${id}` }
}

/** Starts a server that serves one match. @returns the server, and the newest body that it has sent */
async function start(options: GameServerOptions = {}) {
  const clock = createManualClock()
  const sent: { readonly method: string; readonly body: unknown }[] = []
  const server = createGameServer({
    env: { MUSTER_URL: 'http://muster.example', MUSTER_SERVER_TOKEN: 'm1.secret' },
    clock,
    handleSignals: false,
    onProblem: () => {},
    fetch: async (_, init) => {
      sent.push({ method: init?.method ?? '', body: JSON.parse(String(init?.body)) })
      return Response.json(init?.method === 'POST' ? registered : orders)
    },
    ...options,
  })
  void server.serve({})
  await clock.advance(1000)
  const latest = async (method = 'PUT') => {
    await clock.advance(500)
    return sent.findLast((one) => one.method === method)?.body
  }
  const game = server.matches.get('m1')
  if (game === undefined) throw new Error('The server has not received its match.')
  return { server, latest, game }
}

/** Calls the package. @returns false for what it refuses */
function isAccepted(call: () => unknown): boolean {
  try {
    call()
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidCall)
    return false
  }
}

/** Texts that are often accepted, with halves of surrogate pairs and backslashes, and some that are too long. */
const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom('a\ud83d', '\udc00', '\\ud800', '\\\ud800', 'x'.repeat(64), '__proto__') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom('', ' ', 'x'.repeat(65), 'x'.repeat(257)) },
)
const number = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 1000 }) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 0, 0.5, Number.NaN, Infinity, 1001) },
)
const value = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(undefined))
const attributes = fc.oneof(
  { weight: 4, arbitrary: fc.dictionary(text, value, { maxKeys: 2 }) },
  { weight: 1, arbitrary: fc.dictionary(text, value, { maxKeys: 34 }) },
)
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined })

/** @returns the share of values that were accepted. If it is low, the test proves little. */
async function shareAccepted<T>(values: fc.Arbitrary<T>, accepts: (value: T) => Promise<boolean>): Promise<number> {
  const accepted: boolean[] = []
  await fc.assert(
    fc.asyncProperty(values, async (one) => void accepted.push(await accepts(one))),
    { numRuns: 150 },
  )
  return accepted.filter(Boolean).length / accepted.length
}

const expectRead = (schema: typeof ReportBody | typeof RegistrationBody, body: unknown) =>
  expect(schema.safeParse(body).error?.issues ?? []).toEqual([])

test('property: a listing that the package accepts is one that Muster accepts', async () => {
  const teams = fc.dictionary(text, fc.integer({ min: 0, max: 4 }), { maxKeys: 4 })
  const listing = fc
    .record({ name: text, seats: number, teams: maybe(teams), password: maybe(text), locked: maybe(fc.boolean()) })
    .chain((one) => fc.record({ one: fc.constant(one), fits: fc.boolean(), attributes: maybe(attributes) }))
    .map(({ one, fits, attributes: given }): Listing => {
      const seats = fits && one.teams ? Object.values(one.teams).reduce((a, b) => a + b, 0) : one.seats
      return { ...one, seats, attributes: given as Listing['attributes'] }
    })
  const share = await shareAccepted(listing, async (one) => {
    const { server, latest } = await start()
    if (!isAccepted(() => server.list(one))) return false
    expectRead(ReportBody, await latest())
    return true
  })
  expect(share).toBeGreaterThan(0.1)
})

test('property: a result that the package accepts is one that Muster accepts', async () => {
  const ranking = fc.array(fc.array(fc.constantFrom('ann', 'ben', 'eve'), { maxLength: 2 }), { maxLength: 3 })
  const result = fc.record({ ranking: maybe(ranking), data: fc.oneof(fc.jsonValue(), fc.anything(), text) })
  const share = await shareAccepted(result, async (one) => {
    const { game, latest } = await start()
    if (!isAccepted(() => void game.over(one as MatchResult))) return false
    expectRead(ReportBody, await latest())
    return true
  })
  expect(share).toBeGreaterThan(0.1)
})

test('property: seats that the package accepts are seats that Muster accepts', async () => {
  const teams = fc.dictionary(fc.constantFrom('red', 'blue'), number, { maxKeys: 2 })
  const share = await shareAccepted(fc.record({ open: fc.boolean(), teams: maybe(teams) }), async (wanted) => {
    const { game, latest } = await start()
    if (!isAccepted(() => game.seats(wanted))) return false
    expectRead(ReportBody, await latest())
    return true
  })
  expect(share).toBeGreaterThan(0.1)
})

test('property: a registration that the package accepts is one that Muster accepts', async () => {
  const options = fc.record({
    matches: fc.oneof(fc.integer({ min: 1, max: 64 }), number),
    attributes,
    build: maybe(text),
  })
  const share = await shareAccepted(options, async (one) => {
    let started: Awaited<ReturnType<typeof start>> | undefined
    try {
      started = await start(one as GameServerOptions)
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidCall)
      return false
    }
    expectRead(RegistrationBody, await started.latest('POST'))
    return true
  })
  expect(share).toBeGreaterThan(0.1)
})
