import { createPublicKey, verify } from 'node:crypto'
import { createManualClock } from '@muster/core/clock'
import { readJoinToken } from '@muster/game-server/internal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createJoinSigner } from './join-signer.js'
import { type JoinAlgorithm, type JoinGrant, signJoinToken } from './join-tokens.js'
import { createServerKeys } from './server-keys.js'

const MASTER = 'a master secret of thirty-two bytes'
const ALGORITHMS: readonly JoinAlgorithm[] = ['HS256', 'EdDSA']
const signerOf = (alg: JoinAlgorithm, master = MASTER) =>
  createJoinSigner(
    alg,
    createServerKeys(() => master),
  )
const grant: JoinGrant = { server: 'm1', matchId: 'm7', playerId: 'ann', seatId: 't1', team: 'red' }
const NOW = 1_700_000_000_000
const clock = createManualClock({ start: NOW })

/** Verifies a token like a game server. Returns its claims, or why it is refused. */
function read(token: string, alg: JoinAlgorithm, key: Uint8Array, server = 'm1', now = NOW) {
  try {
    return readJoinToken(token, { alg, key, server }, now)
  } catch (error) {
    return (error as { readonly code?: string }).code ?? error
  }
}

describe.each(ALGORITHMS)('join tokens signed by %s', (alg) => {
  const signer = signerOf(alg)
  const readAt = (token: string, server = 'm1', now = NOW) => read(token, alg, signer.keyOf(server), server, now)

  test('property: a join token contains what was granted, for any ids', () => {
    const text = fc.string({ minLength: 1, maxLength: 64, unit: 'grapheme' })
    fc.assert(
      fc.property(text, text, (playerId, seatId) => {
        const claims = readAt(signer.grant({ ...grant, playerId, seatId }, clock))
        expect(claims).toMatchObject({ aud: 'm1', mid: 'm7', sub: playerId, sid: seatId, team: 'red' })
      }),
      { numRuns: 50 },
    )
  })

  test('a join token is invalid after its expiry, on another server, and with any bit changed', () => {
    const token = signer.grant(grant, clock)
    expect(readAt(token, 'm1', NOW + 300_000)).toBe('expired')
    expect(readAt(token, 'm2')).toBe(alg === 'HS256' ? 'forged' : 'other-server')
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom('A', 'B', 'x', '9', '_'), (at, letter) => {
        const changed = token.slice(0, at) + letter + token.slice(at + 1)
        const isSame = Buffer.from(changed.slice(changed.lastIndexOf('.') + 1), 'base64url').equals(
          Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url'),
        )
        // The last letter of a signature has bits that mean nothing.
        if (changed.slice(0, changed.lastIndexOf('.')) === token.slice(0, token.lastIndexOf('.')) && isSame) return
        expect(['malformed', 'forged']).toContain(readAt(changed))
      }),
      { numRuns: 100 },
    )
  })

  test('join tokens are signed by the same key for the same master secret, in any process', () => {
    const token = signer.grant(grant, clock)
    expect(signerOf(alg).grant(grant, clock)).toBe(token)
    expect(readAt(signerOf(alg, `${MASTER}!`).grant(grant, clock))).toBe('forged')
  })
})

test('property: a join token of one algorithm is never valid for the other, for any known keys', () => {
  const [secret, eddsa] = [signerOf('HS256'), signerOf('EdDSA')]
  const publicKey = eddsa.keyOf('m1')
  const claims = { aud: 'm1', sub: 'eve', mid: 'm7', sid: 't1', iat: NOW / 1000, exp: NOW / 1000 + 300 }
  // An attacker signs with the public key, in each of its forms, as if it were a secret.
  const forms = [
    publicKey,
    Buffer.from(Buffer.from(publicKey).toString('base64url')),
    Buffer.from(JSON.stringify(eddsa.keySet().keys[0])),
    Buffer.alloc(0),
    Buffer.alloc(32),
  ]
  const headers = [{ alg: 'HS256' }, { alg: 'none' }, { alg: 'EdDSA' }, { alg: 'eddsa' }, { alg: ['EdDSA'] }]
  fc.assert(
    fc.property(fc.constantFrom(...forms), fc.constantFrom(...headers), fc.boolean(), (key, header, isOwn) => {
      const forged = signJoinToken(claims, key)
      const [first = '', payload = '', mac = ''] = forged.split('.')
      const named = Buffer.from(JSON.stringify({ ...header, typ: 'JWT' })).toString('base64url')
      const token = isOwn ? [first, payload, mac].join('.') : [named, payload, mac].join('.')
      for (const alg of ALGORITHMS)
        expect(['malformed', 'forged']).toContain(read(token, alg, (alg === 'HS256' ? secret : eddsa).keyOf('m1')))
    }),
  )
  for (const [signer, alg] of [
    [secret, 'EdDSA'],
    [eddsa, 'HS256'],
  ] as const)
    for (const key of [secret.keyOf('m1'), publicKey])
      expect(read(signer.grant(grant, clock), alg, key)).toBe('malformed')
})

test('common JWT libraries read the key set and verify a join token by it', () => {
  const signer = signerOf('EdDSA')
  const { keys } = signer.keySet()
  const [key] = keys
  const [header = '', payload = '', signature = ''] = signer.grant(grant, clock).split('.')
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'EdDSA', typ: 'JWT', kid: key?.kid })
  const publicKey = createPublicKey({ key: { ...key }, format: 'jwk' })
  expect(verify(null, Buffer.from(`${header}.${payload}`), publicKey, Buffer.from(signature, 'base64url'))).toBe(true)
  expect(signerOf('HS256').keySet()).toEqual({ keys: [] })
  // The published key must not contain any part of the private key.
  expect(Object.keys(key ?? {}).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x'])
})
