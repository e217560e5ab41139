import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type JoinClaims, readJoinToken, signJoinToken } from './join-tokens.js'
import { createServerKeys } from './server-keys.js'

const keys = createServerKeys(() => 'a master secret of thirty-two bytes')
const key = keys.joinKeyOf('m1')
const claims: JoinClaims = { aud: 'm1', sub: 'ann', mid: 'm1', sid: 't1', team: 'red', iat: 1000, exp: 1300 }
const read = (token: string, now = 1_000_000) => readJoinToken(token, { server: 'm1', key, now })

test('a token says what was signed, whatever ids its player and team have', () => {
  const text = fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme' })
  fc.assert(
    fc.property(text, text, fc.option(text, { nil: undefined }), (sub, sid, team) => {
      const given = { ...claims, sub, sid, ...(team === undefined ? {} : { team }) }
      expect(read(signJoinToken(given, key))).toEqual(given)
    }),
  )
})

test('a token with ids of 36 characters has at most 400 bytes', () => {
  const id = 'b3a1f0de-7c54-4a41-9d0e-3f2c5a8e6d71'
  const matchId = '0123456789abcdefghijk'
  const token = signJoinToken(
    { ...claims, aud: matchId, sub: id, mid: matchId, sid: `${matchId}.0`, grp: matchId },
    key,
  )
  expect(Buffer.byteLength(token)).toBeLessThanOrEqual(400)
})

test('a token is void when it expires, and on another server', () => {
  const token = signJoinToken(claims, key)
  expect(read(token, 1_299_999)).toEqual(claims)
  expect(read(token, 1_300_000)).toBe('expired')
  expect(readJoinToken(token, { server: 'm2', key: keys.joinKeyOf('m2'), now: 0 })).toBe('forged')
  expect(readJoinToken(token, { server: 'm2', key, now: 0 })).toBe('other-server')
})

test('a forged or broken token is refused and never throws', () => {
  const token = signJoinToken(claims, key)
  const [header = '', payload = '', mac = ''] = token.split('.')
  const better = Buffer.from(JSON.stringify({ ...claims, sub: 'ben' })).toString('base64url')
  expect(read(`${header}.${better}.${mac}`)).toBe('forged')
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  expect(read(`${none}.${payload}.`)).toBe('malformed')
  fc.assert(
    fc.property(fc.string({ maxLength: 300, unit: 'binary' }), (text) => {
      expect(['malformed', 'forged']).toContain(read(text))
      expect(['malformed', 'forged']).toContain(read(`${header}.${text}.${mac}`))
    }),
  )
  expect(read('a'.repeat(100_000))).toBe('malformed')
})
