import { generateKeyPairSync, sign } from 'node:crypto'
import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAttendance } from './attendance.js'
import { type JoinFault, JoinRefused } from './errors.js'
import { type JoinKey, joinKeyOf, readJoinToken, signJoinToken } from './join-token.js'

const NOW = Date.parse('2026-11-26T12:00:00Z')
const claims = { aud: 'm1', sub: 'ann', mid: 'm7', sid: 't1', team: 'red' }
const secret: JoinKey = { alg: 'HS256', key: joinKeyOf('m1.token'), server: 'm1' }
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const faultOf = (token: unknown, key = secret, now = NOW): JoinFault | 'good' => {
  try {
    readJoinToken(token, key, now)
    return 'good'
  } catch (error) {
    if (error instanceof JoinRefused) return error.code
    throw error
  }
}

describe('a join token', () => {
  const token = signJoinToken(claims, secret.key, NOW)

  test('a join token identifies its player until it expires', () => {
    expect(readJoinToken(token, secret, NOW)).toMatchObject(claims)
    expect(faultOf(token, secret, NOW + 299_999)).toBe('good')
    expect(faultOf(token, secret, NOW + 300_000)).toBe('expired')
  })

  test('a join token is refused if its key, server, algorithm or form is wrong', () => {
    expect(faultOf(token, { ...secret, key: joinKeyOf('m2.token') })).toBe('forged')
    expect(faultOf(token, { ...secret, server: 'm2' })).toBe('other-server')
    expect(faultOf(token, { alg: 'EdDSA', key: new Uint8Array(32), server: 'm1' })).toBe('malformed')
    const [, payload = ''] = token.split('.')
    expect(faultOf(`${part({ alg: 'none', typ: 'JWT' })}.${payload}.`)).toBe('malformed')
    for (const wrong of ['', 'a.b', 'a.b.c', 'a.b.c.d', 'x'.repeat(3000), undefined, 7])
      expect(faultOf(wrong)).toBe('malformed')
    expect(faultOf(signJoinToken({ ...claims, sub: 7 } as never, secret.key, NOW))).toBe('malformed')
  })

  test('a string that is not a join token is refused, even with a valid header and signature (property)', () => {
    const [header, , mac] = token.split('.')
    fc.assert(
      fc.property(fc.string({ maxLength: 300, unit: 'binary' }), (text) => {
        expect(['malformed', 'forged']).toContain(faultOf(text))
        expect(['malformed', 'forged']).toContain(faultOf(`${header}.${text}.${mac}`))
      }),
    )
  })

  test('a join token is refused after a change of any letter (property)', () => {
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...'AZaz09-_.'), (at, letter) => {
        const changed = token.slice(0, at) + letter + token.slice(at + 1)
        const isSame = Buffer.from(changed.split('.')[2] ?? '', 'base64url').equals(
          Buffer.from(token.split('.')[2] ?? '', 'base64url'),
        )
        // The last letter of a signature has bits without a meaning.
        if (at > token.lastIndexOf('.') && isSame) return
        expect(['malformed', 'forged']).toContain(faultOf(changed))
      }),
    )
  })

  test('a join token signed with Ed25519 is checked by the public key alone', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
    const payload = part({ ...claims, iat: 1, exp: NOW / 1000 + 60 })
    const signed = `${part({ alg: 'EdDSA', typ: 'JWT', kid: 'x' })}.${payload}`
    const good = `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
    const known: JoinKey = { alg: 'EdDSA', key, server: 'm1' }
    expect(faultOf(good, known)).toBe('good')
    expect(faultOf(`${signed}.${Buffer.alloc(64).toString('base64url')}`, known)).toBe('forged')
    expect(faultOf(`${signed}.AAAA`, known)).toBe('forged')
    // An attacker signs with the public key as if it were a secret.
    expect(faultOf(signJoinToken(claims, key, NOW), known)).toBe('malformed')
  })
})

describe('the attendance of a player', () => {
  const at = (iat: number, sid = 't1') => ({ ...claims, sid, iat, exp: iat + 300 })
  const setUp = () => {
    const clock = createManualClock({ start: NOW })
    let changes = 0
    return { clock, changes: () => changes, ...createAttendance(clock, () => (changes += 1)) }
  }

  test('a join token admits its player once, and a fresh join token admits the player again', () => {
    const { enter, statuses } = setUp()
    enter(at(10))
    expect(() => enter(at(10))).toThrow(expect.objectContaining({ code: 'used' }))
    enter(at(11))
    expect(() => enter(at(10))).toThrow(JoinRefused)
    expect([...statuses()]).toEqual([['ann', 'in']])
  })

  test('a player who left may return with the same join token until the return time is over', async () => {
    const { clock, enter, leave, statuses, changes } = setUp()
    enter(at(10))
    leave('ann', 5000)
    await clock.advance(4999)
    expect([...statuses()]).toEqual([['ann', 'away']])
    enter(at(10))
    await clock.advance(60_000)
    expect([...statuses()]).toEqual([['ann', 'in']])
    leave('ann', 5000)
    const before = changes()
    await clock.advance(5000)
    expect(changes()).toBe(before + 1)
    expect([...statuses()]).toEqual([['ann', 'left']])
    expect(() => enter(at(99))).toThrow(JoinRefused)
    // The player may use a token for another seat of the match.
    enter(at(99, 't2'))
    expect([...statuses()]).toEqual([['ann', 'in']])
  })

  test('a player reported as left without having come counts as absent until they get another seat', async () => {
    const { clock, enter, leave, expect: expectAgain, isAbsent, statuses } = setUp()
    leave('ann', 5000)
    expect([...statuses()]).toEqual([['ann', 'away']])
    expect(isAbsent('ann')).toBe(false)
    await clock.advance(5000)
    expect([...statuses()]).toEqual([['ann', 'left']])
    expect(isAbsent('ann')).toBe(true)
    expectAgain('ann')
    expect(isAbsent('ann')).toBe(false)
    expect([...statuses()]).toEqual([])
    enter(at(99, 't2'))
    leave('ann', 0)
    expect(isAbsent('ann')).toBe(false)
  })

  test('a player who left is never admitted again with an expired join token (property)', () => {
    const acts = fc.array(
      fc.oneof(
        fc.nat(5).map((iat) => ({ iat })),
        fc.constantFrom({ leaveMs: 0 }, { leaveMs: 1000 }),
      ),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(acts, (given) => {
        const { enter, leave, statuses } = setUp()
        let newest = -1
        for (const act of given) {
          const before = statuses().get('ann')
          if ('leaveMs' in act) {
            if (before !== undefined) leave('ann', act.leaveMs)
          } else {
            const mayEnter =
              before === undefined || (before === 'in' && act.iat > newest) || (before === 'away' && act.iat >= newest)
            if (mayEnter) {
              enter(at(act.iat))
              newest = act.iat
            } else expect(() => enter(at(act.iat))).toThrow(JoinRefused)
          }
        }
      }),
    )
  })
})
