import { expect, test } from 'vitest'
import { type JoinClaims, signJoinToken } from './join-tokens.js'
import { createServerKeys } from './server-keys.js'

const keys = createServerKeys(() => 'a master secret of thirty-two bytes')
const key = keys.joinKeyOf('m1')
const claims: JoinClaims = { aud: 'm1', sub: 'ann', mid: 'm1', sid: 't1', team: 'red', iat: 1000, exp: 1300 }

test('a join token with ids of 36 characters has at most 400 bytes', () => {
  const id = 'b3a1f0de-7c54-4a41-9d0e-3f2c5a8e6d71'
  const matchId = '0123456789abcdefghijk'
  const token = signJoinToken(
    { ...claims, aud: matchId, sub: id, mid: matchId, sid: `${matchId}.0`, grp: matchId },
    key,
  )
  expect(Buffer.byteLength(token)).toBeLessThanOrEqual(400)
})
