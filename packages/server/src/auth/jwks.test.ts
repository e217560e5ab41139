import { createManualClock } from '@muster/core/clock'
import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { createSigningKey, openKeyServer, signShared, type SigningKey } from './jwks.fixture.js'
import { createJwt } from './jwt.js'

const NOW = 1_700_000_000_000
const closes: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
})

async function setUp(answer: RequestListener) {
  const clock = createManualClock({ start: NOW })
  const problems: string[] = []
  const server = await openKeyServer((request, response) => answer(request, response))
  closes.push(server.close)
  const { identify } = createJwt(
    { jwks: server.url, claims: { id: 'sub' } },
    { clock, onProblem: ({ message }) => problems.push(message) },
  )
  const ask = async (token: string) => {
    try {
      return (await identify(token))?.id
    } catch (error) {
      return String((error as { readonly code?: unknown }).code)
    }
  }
  const sign = (key: SigningKey, id: string, seconds = 3600 * 48) => key.sign({ sub: id }, clock.now() / 1000 + seconds)
  return { clock, problems, server, ask, sign }
}

const serving =
  (...keys: readonly SigningKey[]): RequestListener =>
  (_, response) =>
    response.end(JSON.stringify({ keys: keys.map(({ publicKey }) => publicKey) }))

test('signing keys are fetched once for many players', async () => {
  const key = await createSigningKey('k1')
  const { ask, sign, server } = await setUp(serving(key))
  const tokens = await Promise.all(['ann', 'ben', 'cas'].map((id) => sign(key, id)))
  expect(await Promise.all(tokens.map(ask))).toEqual(['ann', 'ben', 'cas'])
  expect(server.asked).toHaveLength(1)
})

test('signing keys are refreshed in the background, and a withdrawn key becomes invalid', async () => {
  const [old, next] = [await createSigningKey('old'), await createSigningKey('next')]
  let served = [old]
  const { ask, sign, server, clock } = await setUp((...exchange) => serving(...served)(...exchange))
  expect(await ask(await sign(old, 'ann'))).toBe('ann')
  served = [next]
  await clock.advance(600_001)
  // The cached old keys still verify this token. The call also starts a new fetch of the keys.
  expect(await ask(await sign(old, 'ben'))).toBe('ben')
  const token = await sign(next, 'cas')
  await eventually(async () => (await ask(token)) === 'cas')
  expect(server.asked).toHaveLength(2)
  expect(await ask(await sign(old, 'dee'))).toBeUndefined()
})

test('the last signing keys stay valid for a day while the JWKS URL fails', async () => {
  const key = await createSigningKey('k1')
  let isDown = false
  const { ask, sign, clock, problems, server } = await setUp((request, response) =>
    isDown ? void response.writeHead(500).end() : serving(key)(request, response),
  )
  expect(await ask(await sign(key, 'ann'))).toBe('ann')
  isDown = true
  await clock.advance(3600_000)
  expect(await ask(await sign(key, 'ben'))).toBe('ben')
  await eventually(() => problems.length === 1)
  const failure = 'The keys at auth.jwt.jwks cannot be fetched: the URL of the keys answered with HTTP 500.'
  expect(problems).toEqual([`${failure} Check the URL and the network.`])
  // Not for every such token: the keys are fetched again only after some time.
  await Promise.all(['cas', 'dee', 'eva'].map(async (id) => ask(await sign(key, id))))
  expect(server.asked).toHaveLength(2)
  await clock.advance(24 * 3600_000)
  expect(await ask(await sign(key, 'fay'))).toBe('auth-unavailable')
})

test('callers before the first signing keys arrive get 503 to retry, and share one fetch', async () => {
  const key = await createSigningKey('k1')
  let isDown = true
  const { ask, sign, clock, server } = await setUp((request, response) =>
    isDown ? void response.destroy() : serving(key)(request, response),
  )
  for (const id of ['ann', 'ben', 'cas']) expect(await ask(await sign(key, id))).toBe('auth-unavailable')
  expect(server.asked).toHaveLength(1)
  isDown = false
  await clock.advance(5000)
  expect(await ask(await sign(key, 'ann'))).toBe('ann')
})

describe('an invalid JWKS answer', () => {
  test.each<[string, RequestListener, string]>([
    [
      'with a redirect',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      'the URL of the keys answered with HTTP 302',
    ],
    [
      'that is too large',
      (_, response) => response.end('x'.repeat(600_000)),
      'the key set (JWKS) has more than 524288 bytes',
    ],
    ['that is not JSON', (_, response) => response.end('<html>'), 'the answer of the URL is not a JSON Web Key Set'],
    ['without keys', (_, response) => response.end('null'), 'the answer of the URL is not a JSON Web Key Set'],
  ])('a JWKS answer %s is ignored', async (_, answer, reason) => {
    const { ask, sign, problems } = await setUp(answer)
    expect(await ask(await sign(await createSigningKey('k1'), 'ann'))).toBe('auth-unavailable')
    expect(problems).toEqual([`The keys at auth.jwt.jwks cannot be fetched: ${reason}. Check the URL and the network.`])
  })

  test('a JWKS answer that contains a shared key is ignored', async () => {
    const secret = 'known to everybody, and long enough for HS256'
    const shared = { kty: 'oct', kid: 'k1', alg: 'HS256', k: Buffer.from(secret).toString('base64url') }
    const { ask, clock } = await setUp((_, response) => response.end(JSON.stringify({ keys: [shared] })))
    expect(await ask(await signShared({ sub: 'ann' }, secret, clock.now() / 1000 + 60))).toBeUndefined()
  })
})

async function eventually(is: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 5000 && !(await is()); turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(await is()).toBe(true)
}

describe('several JWKS keys that fit a token', () => {
  test.each([
    ['without a kid', undefined],
    ['under one kid', 'k1'],
  ])('all JWKS keys that fit a token are tried if the keys are %s, as during a rotation', async (_, kid) => {
    const [old, next] = [await createSigningKey(kid), await createSigningKey(kid)]
    const { ask, sign } = await setUp(serving(old, next))
    expect(await ask(await sign(old, 'ann'))).toBe('ann')
    expect(await ask(await sign(next, 'ben'))).toBe('ben')
    expect(await ask(await sign(await createSigningKey(kid), 'eve'))).toBeUndefined()
  })

  test('an expired token is refused as expired, regardless of which JWKS key signed it', async () => {
    const [old, next] = [await createSigningKey('k1'), await createSigningKey('k1')]
    const { ask, sign } = await setUp(serving(old, next))
    for (const key of [old, next]) expect(await ask(await sign(key, 'ben', -60))).toBe('token-expired')
  })

  test('at most eight JWKS keys that fit a token are tried', async () => {
    const keys = await Promise.all(Array.from({ length: 9 }, () => createSigningKey('k1')))
    const { ask, sign } = await setUp(serving(...keys))
    expect(await ask(await sign(keys[7] as SigningKey, 'ann'))).toBe('ann')
    expect(await ask(await sign(keys[8] as SigningKey, 'ben'))).toBeUndefined()
  })
})

test.each([
  ['EdDSA', 'EdDSA'],
  ['EdDSA', 'Ed25519'],
  ['Ed25519', 'EdDSA'],
  ['Ed25519', 'Ed25519'],
])('a JWKS key for %s verifies tokens for %s, the name of the same algorithm in RFC 9864', async (ofKey, ofToken) => {
  const key = await createSigningKey('k1', ofToken)
  const { ask, sign } = await setUp(serving({ ...key, publicKey: { ...key.publicKey, alg: ofKey } }))
  expect(await ask(await sign(key, 'ann'))).toBe('ann')
})
