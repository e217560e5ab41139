import { createManualClock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSigningKey, openKeyServer, signShared } from './jwks.fixture.js'
import { createJwt, type JwtOptions } from './jwt.js'

const SECRET = 'a-secret-of-at-least-32-characters'
const NOW = 1_700_000_000_000
const NOW_S = NOW / 1000
const claims = {
  id: 'sub',
  role: 'role',
  attributes: { skill: 'mmr', maps: ['game', 'maps'] },
  roles: 'plays',
  avoid: 'foes',
}

function setUp(options: Partial<JwtOptions> = {}) {
  const clock = createManualClock({ start: NOW })
  const problems: string[] = []
  const given: JwtOptions = options.jwks === undefined ? { secret: SECRET, claims, ...options } : { claims, ...options }
  const { identify } = createJwt(given, { clock, onProblem: (error) => problems.push(error.message) })
  /** Returns the identity, or the problem's status and code. */
  const ask = async (token: string) => {
    try {
      return await identify(token)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return `${error.status} ${error.code}: ${error.message}`
    }
  }
  return { clock, problems, identify, ask }
}

const sign = (payload: object, expiresAt: number | undefined = NOW_S + 600) =>
  signShared({ ...payload }, SECRET, expiresAt)

test('JWT claims become the id, role, attributes and roles of a player', async () => {
  const { ask } = setUp()
  const token = await sign({ sub: 'ann', mmr: 1510, game: { maps: ['ice', 'fog'] }, plays: ['tank'], foes: ['ben'] })
  expect(await ask(token)).toEqual({
    id: 'ann',
    roles: ['player'],
    profile: { attributes: { skill: 1510, maps: ['ice', 'fog'] }, roles: ['tank'], avoid: ['ben'] },
  })
  expect(await ask(await sign({ sub: 4711 }))).toEqual({ id: '4711', roles: ['player'], profile: undefined })
  expect(await ask(await sign({ sub: 'studio', role: 'backend' }))).toEqual({ id: 'studio', roles: ['backend'] })
})

test('the name of a JWT claim may contain dots', async () => {
  const { ask } = setUp({ claims: { id: 'https://game/id' } })
  expect(await ask(await sign({ 'https://game/id': 'ann' }))).toMatchObject({ id: 'ann' })
})

describe('a claim of the wrong type', () => {
  test.each([
    [{ mmr: 1 }, 'The claim sub of the token must be a text of 1 to 128 characters, or a whole number'],
    [{ sub: '' }, 'The claim sub of the token must be a text'],
    [{ sub: 'x'.repeat(129) }, 'The claim sub of the token must be a text'],
    [{ sub: 'a\ud800' }, 'The claim sub of the token must be a text'],
    [{ sub: ['ann-the-secret'] }, 'The claim sub of the token must be a text'],
    [
      { sub: 2 ** 56 },
      'The claim sub of the token is a number over 2^53, of which JSON loses digits: send it as a text',
    ],
    [
      { sub: 'ann', mmr: { value: 'ann-the-secret' } },
      'The claim mmr of the token must be a number, a text, true, false or a list',
    ],
    [
      { sub: 'ann', game: { maps: [1] } },
      'The claim game.maps of the token must be a number, a text, true, false or a list',
    ],
    [{ sub: 'ann', plays: 'tank' }, 'The claim plays of the token must be a list of texts'],
    [
      { sub: 'ann', role: 'root' },
      'The claim role of the token must be one of player, backend, look, players, rules, operate, deploy',
    ],
    [{ sub: 'ann', role: ['backend'] }, 'The claim role of the token must be one of'],
  ])('a JWT claim of the wrong type is refused by its name, without its value: %j', async (payload, message) => {
    const { ask } = setUp()
    const answer = await ask(await sign(payload))
    expect(answer).toContain(`403 unfit-token: ${message}`)
    expect(answer).not.toContain('ann-the-secret')
  })

  test('JWT claims are not read from inherited members', async () => {
    const { ask } = setUp({ claims: { id: 'sub', attributes: { skill: 'constructor', other: ['game', 'toString'] } } })
    expect(await ask(await sign({ sub: 'ann', game: {} }))).toEqual({ id: 'ann', roles: ['player'] })
  })
})

describe('an invalid JWT', () => {
  test.each([
    ['without a signature', () => 'e30.e30.e30', undefined],
    ['that is not a token', () => 'ann', undefined],
    ['with an empty signature', async () => (await sign({ sub: 'ann' })).replace(/[^.]*$/, ''), undefined],
    [
      "with the algorithm 'none'",
      () => `${text({ alg: 'none' })}.${text({ sub: 'ann', exp: NOW_S + 600 })}.`,
      undefined,
    ],
    [
      "with the algorithm 'none' and a signature",
      () => `${text({ alg: 'none' })}.${text({ sub: 'ann', exp: NOW_S + 600 })}.e30`,
      undefined,
    ],
    ['signed with another secret', () => signShared({ sub: 'ann' }, SECRET.toUpperCase(), NOW_S + 600), undefined],
    [
      'with an algorithm that is not allowed',
      () => signShared({ sub: 'ann' }, SECRET, NOW_S + 600, 'HS512'),
      undefined,
    ],
    [
      'that is expired',
      () => sign({ sub: 'ann' }, NOW_S - 6),
      '401 token-expired: The token has expired. Send a new one.',
    ],
    [
      'that never expires',
      () => signShared({ sub: 'ann' }, SECRET),
      '401 invalid-token: The claim exp of the token is missing.',
    ],
    [
      'that is not valid yet',
      () => sign({ sub: 'ann', nbf: NOW_S + 60 }),
      '401 invalid-token: The claim nbf of the token is not the one expected here.',
    ],
    [
      'from another issuer',
      () => sign({ sub: 'ann', iss: 'other', aud: 'game' }),
      '401 invalid-token: The claim iss of the token is not the one expected here.',
    ],
    [
      'for another audience',
      () => sign({ sub: 'ann', iss: 'studio', aud: 'shop' }),
      '401 invalid-token: The claim aud of the token is not the one expected here.',
    ],
    [
      'without an audience',
      () => sign({ sub: 'ann', iss: 'studio' }),
      '401 invalid-token: The claim aud of the token is missing.',
    ],
  ])('an invalid JWT %s is refused', async (_, make, refused) => {
    const strict = /claim (iss|aud)/.test(refused ?? '')
    const { ask } = setUp({
      algorithms: ['HS256'],
      ...(strict && { issuer: 'studio', audience: ['game', 'editor'] }),
    })
    expect(await ask(await make())).toBe(refused)
  })

  test('a JWT that uses a public key as its shared HMAC secret is refused', async () => {
    const key = await createSigningKey('k1', 'RS256')
    const keys = await openKeyServer((_, response) => response.end(JSON.stringify({ keys: [key.publicKey] })))
    const { ask } = setUp({ jwks: keys.url })
    const forged = await signShared({ sub: 'ann' }, JSON.stringify(key.publicKey), NOW_S + 600)
    expect(await ask(forged)).toBeUndefined()
    expect(await ask(await key.sign({ sub: 'ann' }, NOW_S + 600))).toMatchObject({ id: 'ann' })
    await keys.close()
  })
})

test('a JWT algorithm that does not fit the type of the key is refused at the start', () => {
  expect(() => setUp({ algorithms: ['RS256'] })).toThrow(
    'auth.jwt.algorithms: RS256 cannot be used with a shared secret: choose from HS256, HS384, HS512',
  )
  expect(() => setUp({ jwks: 'http://127.0.0.1:1/', algorithms: ['HS256'] })).toThrow(
    'auth.jwt.algorithms: HS256 cannot be used with keys at an address',
  )
})

describe('a verified JWT', () => {
  test.each(['HS256', 'HS512'])(
    'a verified JWT signed with %s is cached, and the next check needs no promise',
    async (alg) => {
      const { identify, ask } = setUp({ algorithms: [alg] })
      const token = await signShared({ sub: 'ann' }, SECRET, NOW_S + 600, alg)
      const identity = await ask(token)
      expect(identity).toMatchObject({ id: 'ann' })
      for (let poll = 0; poll < 1000; poll += 1) expect(identify(token)).toBe(identity)
    },
  )

  test('a verified JWT is valid until it expires, and not longer', async () => {
    const { clock, ask } = setUp()
    const token = await sign({ sub: 'ann' }, NOW_S + 60)
    await ask(token)
    await clock.advance(64_000)
    expect(await ask(token)).toMatchObject({ id: 'ann' })
    await clock.advance(1001)
    expect(await ask(token)).toContain('401 token-expired')
  })

  test('a verified JWT is verified again after five minutes, so that a withdrawn key becomes invalid', async () => {
    const { clock, identify, ask } = setUp()
    const token = await sign({ sub: 'ann' }, NOW_S + 3600)
    const identity = await ask(token)
    await clock.advance(299_999)
    expect(identify(token)).toBe(identity)
    await clock.advance(2)
    const anew = await ask(token)
    expect(anew).toEqual(identity)
    expect(anew).not.toBe(identity)
  })
})

const text = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('after a step of the wall clock a token is judged by the new time, cached or not (property)', async () => {
  const HOUR_MS = 3_600_000
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: -24, max: 24 }), fc.integer({ min: 1, max: 60 }), async (hours, minutes) => {
      const { clock, ask } = setUp()
      const before = await sign({ sub: 'ann' }, NOW_S + minutes * 60)
      expect(await ask(before)).toMatchObject({ id: 'ann' })
      clock.step(hours * HOUR_MS)
      const hasEnded = hours * 60 >= minutes && hours * HOUR_MS >= minutes * 60_000 + 5000
      if (hasEnded) expect(await ask(before)).toContain('401 token-expired')
      else expect(await ask(before)).toMatchObject({ id: 'ann' })
      // A login server with the right clock issues tokens for the new time.
      const after = await sign({ sub: 'ben' }, NOW_S + hours * 3600 + 60)
      expect(await ask(after)).toMatchObject({ id: 'ben' })
    }),
    { numRuns: 30 },
  )
})
