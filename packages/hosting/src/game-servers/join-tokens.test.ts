import { readJoinToken } from '@muster/game-server/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type JoinClaims, signJoinToken } from './join-tokens.js'
import { createServerKeys } from './server-keys.js'

const keys = createServerKeys(() => 'a master secret of thirty-two bytes')
const key = keys.joinKeyOf('m1')
const claims: JoinClaims = { aud: 'm1', sub: 'ann', mid: 'm1', sid: 't1', team: 'red', iat: 1000, exp: 1300 }

test('a token says what was signed, whatever ids its player and team have', () => {
  const text = fc.string({ minLength: 1, maxLength: 128, unit: 'grapheme' })
  fc.assert(
    fc.property(text, text, fc.option(text, { nil: undefined }), (sub, sid, team) => {
      const given = { ...claims, sub, sid, ...(team === undefined ? {} : { team }) }
      expect(readJoinToken(signJoinToken(given, key), { alg: 'HS256', server: 'm1', key }, 1_000_000)).toEqual(given)
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
