import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { jwtVerify } from 'jose/jwt/verify'
import { expect, test } from 'vitest'
import { createQuickHs256 } from './jwt.js'

const NOW = 1_700_000_000_000
const NOW_S = NOW / 1000
const TOLERANCE_MS = 2500
const secret = new TextEncoder().encode('a-secret-of-at-least-32-characters')

const text = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
const encoded = (value: unknown) => text(value).toString('base64url')
const macOf = (signed: string, hash = 'sha256', key: Uint8Array = secret) =>
  createHmac(hash, key).update(signed).digest('base64url')

const seldom = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: odd })
const odd = fc.oneof(fc.jsonValue(), fc.constantFrom('', null, {}, [], '0', 1e308))
const around = (second: number) => fc.integer({ min: second - 4, max: second + 4 })

const header = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('{"alg":"HS256","typ":"JWT"}', '{"typ":"JWT","alg":"HS256","kid":"1"}') },
  fc.constantFrom<unknown>(
    { alg: 'none' },
    { alg: 'HS512' },
    { alg: 'RS256' },
    { alg: 'hs256' },
    { alg: ['HS256'] },
    { typ: 'JWT' },
    { alg: 'HS256', crit: ['exp'], exp: 1 },
    { alg: 'HS256', crit: ['b64'], b64: false },
    { alg: 'HS256', b64: false },
    { alg: 'HS256', typ: 7, kid: [] },
    '{"alg":"none","alg":"HS256"}',
    '{"alg":"HS256","alg":"none"}',
    '{"__proto__":{"alg":"HS256"}}',
    ' {"alg":"HS256"} ',
    '\uFEFF{"alg":"HS256"}',
    '[{"alg":"HS256"}]',
    '"HS256"',
    '{"alg":"HS256"',
  ),
)
const claims = fc.record(
  {
    sub: fc.string(),
    exp: seldom(fc.oneof(around(NOW_S), fc.constant(NOW_S + 600)), odd),
    nbf: seldom(around(NOW_S), odd),
    iat: seldom(around(NOW_S), odd),
    iss: seldom(fc.constantFrom('studio', 'other'), odd),
    aud: seldom(fc.constantFrom<unknown>('game', ['shop', 'game'], 'shop', []), odd),
  },
  { requiredKeys: ['exp'] },
)
const payload = seldom(
  claims,
  fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('{"exp":1e999}', '{"exp":1', '\uFEFF{"exp":9e9}', '{"__proto__":1,"exp":9e9}'),
  ),
)

/** What is done to the token before it is sent. */
const change = seldom(
  fc.constant((token: string) => token),
  fc.oneof(
    fc.tuple(fc.nat(400), fc.constantFrom('A', '-', '_', '.', '=', '+', '/', ' ', 'é')).map(
      ([at, one]) =>
        (token: string) =>
          token.slice(0, at % token.length) + one + token.slice((at % token.length) + 1),
    ),
    fc.tuple(fc.nat(400), fc.constantFrom('A', 'AA', '.', '')).map(
      ([at, more]) =>
        (token: string) =>
          token.slice(0, at % token.length) + more + token.slice((at % token.length) + (more === '' ? 1 : 0)),
    ),
    fc.constantFrom(
      (token: string) => token.replace(/[^.]*$/, ''),
      (token: string) => `${token}A`,
      (token: string) => `${token}.`,
      (token: string) => `${token}=`,
    ),
  ),
) as fc.Arbitrary<(token: string) => string>

const signer = fc.oneof(
  { weight: 8, arbitrary: fc.constant((signed: string) => macOf(signed)) },
  fc.constantFrom(
    (signed: string) => macOf(signed, 'sha512'),
    (signed: string) => macOf(signed, 'sha256', new Uint8Array(32)),
    () => 'e30',
    () => '',
  ),
)

const invalid = fc.constant(Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url'))
const rules = fc.constantFrom<{ issuers?: string[]; audiences?: string[] }>(
  {},
  { issuers: ['studio'] },
  { audiences: ['game', 'editor'] },
  { issuers: ['other', 'studio'], audiences: ['game'] },
)

test('only tokens that jose takes are taken, with the same claims, and all of these that are usual', async () => {
  const reached = { taken: 0, refused: 0, leftToJose: 0 }
  const tokens = fc.tuple(header, seldom(payload.map(encoded), invalid), signer, change)
  await fc.assert(
    fc.asyncProperty(tokens, rules, async ([head, body, sign, changed], { issuers, audiences }) => {
      const signed = `${encoded(head)}.${String(body)}`
      const token = changed(`${signed}.${sign(signed)}`)
      const verify = createQuickHs256({ secret, issuers, audiences, clockToleranceMs: TOLERANCE_MS })
      const quick = verify(token, NOW)
      const jose = await jwtVerify(token, secret, {
        algorithms: ['HS256'],
        clockTolerance: TOLERANCE_MS / 1000,
        currentDate: new Date(NOW),
        requiredClaims: ['exp'],
        ...(issuers !== undefined && { issuer: issuers }),
        ...(audiences !== undefined && { audience: audiences }),
      }).catch(() => undefined)
      if (quick !== undefined) {
        reached.taken += 1
        expect(jose?.payload).toEqual(quick)
      } else if (jose === undefined) reached.refused += 1
      else {
        reached.leftToJose += 1
        // What jose takes and this check does not has an unusual header, or is not written as base64url is.
        expect(isUsual(token)).toBe(false)
      }
      expect(verify(token, NOW)).toEqual(quick)
    }),
    { numRuns: 800 },
  )
  expect(reached.taken).toBeGreaterThan(100)
  expect(reached.refused).toBeGreaterThan(100)
})

function isUsual(token: string): boolean {
  const [head = '', body = '', signature = ''] = token.split('.')
  const members = Object.keys(JSON.parse(Buffer.from(head, 'base64url').toString().replace(/^\uFEFF/, '')) as object)
  const isExact = (part: string) => Buffer.from(part, 'base64url').toString('base64url') === part
  return [head, body, signature].every(isExact) && members.every((name) => ['alg', 'typ', 'kid'].includes(name))
}
