import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import type { signJoinToken } from './join-token.js'
import { duel, joinToken, key, KNOCK, type Line, openServer, orders, play, registered } from './transcript.fixture.js'

/**
 * Orders and tokens that Muster and players never send, in the format of `server-transcript.jsonl`. The engines replay
 * them too.
 */
const PATH = new URL('../../../engines/odd-orders.jsonl', import.meta.url)

/** Values of every type. */
const ODD: readonly unknown[] = [null, true, 5, -1.5, 'x', [], {}]

type Path = readonly string[]

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key_, one]) => pathsIn(one, [...path, key_]))]
}

/** Returns a copy with another value at a path. Undefined removes the value. */
function withValue(value: unknown, [first, ...rest]: Path, other: unknown): unknown {
  if (first === undefined) return other
  if (Array.isArray(value)) return value.map((one, at) => (String(at) === first ? withValue(one, rest, other) : one))
  const entries = Object.entries(value as object).map(([name, one]) => [
    name,
    name === first ? withValue(one, rest, other) : one,
  ])
  return Object.fromEntries(entries.filter(([, one]) => one !== undefined))
}

/**
 * Returns variants of a valid response, with one changed value each. Every value is replaced by two odd values in turn.
 * Every value outside of a list is also left out once.
 */
function oddAnswers(good: unknown): unknown[] {
  let nth = 0
  return pathsIn(good).flatMap((path) => {
    const isInList = /^\d+$/.test(path.at(-1) ?? '0')
    const others = [0, 1].map(() => withValue(good, path, ODD[nth++ % ODD.length]))
    return isInList ? others : [withValue(good, path, undefined), ...others]
  })
}

const roster = {
  ...duel('m7'),
  teams: [{ name: 'red', players: [{ id: 'ann', ticket_id: 't-ann', seat_id: 's-ann', attributes: { skill: 1 } }] }],
}

const base64url = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Returns malformed and unusual tokens. All that can be signed have a valid signature. */
function oddTokens(): string[] {
  const good = joinToken('ann')
  const [header = '', payload = '', mac = ''] = good.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Parameters<typeof signJoinToken>[0]
  const signed = (head: unknown, body: unknown) => {
    const text = `${base64url(head)}.${base64url(body)}`
    return `${text}.${macOf(text)}`
  }
  const headers = [
    ...ODD,
    ...ODD.map((alg) => ({ alg })),
    ...['HS512', 'none', 'EdDSA', 'hs256'].map((alg) => ({ alg })),
  ]
  const bodies = [
    ...ODD,
    'no JSON',
    '{"sub":',
    '['.repeat(100) + ']'.repeat(100),
    '{"exp":1e400}',
    ...oddAnswers({ ...claims, team: 'red', grp: 'g' }).filter((one) => one !== claims),
  ]
  const broken = ['', '.', '..', '...', 'a.b.c', `${header}.${payload}.`, `.${payload}.${mac}`, `${header}..${mac}`]
  const letters = [
    `!${good}`,
    `${good}!`,
    good.slice(0, -1),
    good.replaceAll('.', ' '),
    `${header}.${payload}.${'é'.repeat(9)}`,
  ]
  return [
    ...broken,
    ...letters,
    ...headers.map((one) => signed(one, claims)),
    ...bodies.map((one) => signed({ alg: 'HS256' }, one)),
  ]
}

const macOf = (text: string) => createHmac('sha256', key).update(text).digest('base64url')

test('game servers in every language ignore orders of the wrong shape and refuse malformed tokens', async () => {
  const lines: Line[] = []
  const session = async (name: string, act: (server: ReturnType<typeof openServer>) => Promise<void>) => {
    lines.push({ session: name })
    const own: Line[] = []
    await act(openServer(own, undefined, false))
    lines.push(...own)
  }
  for (const body of oddAnswers(registered({ matches: [roster], reason: 'surplus', knock: KNOCK })))
    await session('the answer to a registration has an odd shape', async (server) => {
      await server.start()
      await server.answer(201, body)
    })
  for (const body of oddAnswers(orders({ want: 'drain', reason: 'surplus', matches: [roster], knock: KNOCK })))
    await session('orders have an odd shape', async (server) => {
      await server.start()
      await server.answer(201, registered())
      await server.run(200)
      await server.answer(200, body)
    })
  for (const body of [{ detail: 5 }, { detail: null, message: 'no' }, { detail: 'no', field: [] }, [], 5])
    await session('a refusal has an odd shape', async (server) => {
      await server.start()
      await server.answer(400, body)
      await server.run(250)
      await server.answer(410, body)
    })
  await session('Muster asks for a pause of years', async (server) => {
    await server.start()
    await server.answer(503, {}, { 'retry-after': '3000000000' })
    await server.run(3_599_999)
    await server.run(1)
  })
  await session('tokens have odd shapes', async (server) => {
    await play(server)
    for (const token of oddTokens()) await server.admit(token)
    await server.run(2000)
  })
  expect(lines.length).toBeGreaterThan(700)
  // The transcript must not contain an exception, nor any output of a server that an invalid order has ended.
  await expect(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`).toMatchFileSnapshot(PATH.pathname)
})
