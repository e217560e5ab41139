import { createManualClock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { describe, expect, test, vi } from 'vitest'
import { createProfiles, type PlayerProfile, type ProfileOptions } from './player-profiles.js'

const skill = (value: number): PlayerProfile => ({ attributes: { skill: value } })

function setUp(options: Partial<ProfileOptions> = {}) {
  const clock = createManualClock()
  const errors: string[] = []
  const resolve = vi.fn<ProfileOptions['resolve']>(async (ids) => new Map(ids.map((id) => [id, skill(id.length)])))
  const profiles = createProfiles({ resolve, ...options }, clock, (error) => errors.push(String(error)))
  return { clock, errors, resolve, profiles, asked: () => resolve.mock.calls.map(([ids]) => ids) }
}

describe('the requests for player profiles', () => {
  test('profiles that are requested in one event loop turn are resolved by one call, each player once', async () => {
    const { profiles, asked } = setUp()
    const found = await Promise.all(['ann', 'bo', 'ann', 'cleo'].map(profiles))
    expect(found).toEqual([3, 2, 3, 4].map(skill))
    expect(asked()).toEqual([['ann', 'bo', 'cleo']])
  })

  test('profile requests are split into calls of a bounded number of players', async () => {
    const { profiles, asked } = setUp({ batchSize: 2 })
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map(profiles))
    expect(asked()).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })

  test('at most four calls for player profiles run concurrently, and later players share the next call', async () => {
    const open: (() => void)[] = []
    const resolve = vi.fn<ProfileOptions['resolve']>(
      (ids) => new Promise((done) => open.push(() => done(new Map(ids.map((id) => [id, skill(1)]))))),
    )
    const { profiles } = setUp({ resolve, batchSize: 1000 })
    const turn = () => new Promise((done) => setImmediate(done))
    const all: unknown[] = []
    for (let player = 0; player < 10; player += 1) {
      all.push(profiles(`p${player}`))
      await turn()
    }
    expect(resolve.mock.calls.map(([ids]) => ids.length)).toEqual([1, 1, 1, 1])
    open[0]?.()
    await turn()
    await turn()
    expect(resolve.mock.calls.map(([ids]) => ids.length)).toEqual([1, 1, 1, 1, 6])
    for (const end of open) end()
    await Promise.all(all)
  })
})

describe('a resolved player profile', () => {
  test('a resolved player profile is reused until it expires', async () => {
    const { profiles, clock, asked } = setUp({ cacheMs: 1000 })
    await profiles('ann')
    expect(profiles('ann')).toEqual(skill(3))
    await clock.advance(999)
    expect(profiles('ann')).toEqual(skill(3))
    await clock.advance(2)
    await profiles('ann')
    expect(asked()).toHaveLength(2)
  })

  test('a resolved player profile is evicted from a full cache', async () => {
    const { profiles, asked } = setUp({ cacheSize: 2 })
    for (const id of ['a', 'b', 'c', 'a']) await profiles(id)
    expect(asked()).toEqual([['a'], ['b'], ['c'], ['a']])
  })

  test('player profiles are resolved for each request if there is no cache', async () => {
    const { profiles, asked } = setUp({ cacheMs: 0 })
    for (const id of ['a', 'a']) await profiles(id)
    expect(asked()).toHaveLength(2)
  })
})

test('a player unknown to the profile resolver gets an empty profile, which is not cached', async () => {
  const known = new Map<string, PlayerProfile>()
  const { profiles } = setUp({ resolve: () => known })
  expect(await profiles('ann')).toEqual({})
  known.set('ann', skill(7))
  expect(await profiles('ann')).toEqual(skill(7))
})

describe('a failing profile resolver', () => {
  const ways: readonly (readonly [string, ProfileOptions['resolve'], string])[] = [
    ['by an error', () => Promise.reject(new Error('the database is at 10.0.0.1')), 'the database is at'],
    [
      'by an exception',
      () => {
        throw new Error('broken')
      },
      'broken',
    ],
    ['by an answer that is not a Map', (() => ({ ann: {} })) as never, 'must return a Map'],
  ]
  test.each(ways)(
    'a failing profile resolver answers 503 with a retry time, and the error is reported once: %s',
    async (_, resolve, message) => {
      const { profiles, errors } = setUp({ resolve })
      const results = await Promise.allSettled([profiles('ann'), profiles('ben')])
      for (const result of results) {
        const { reason } = result as PromiseRejectedResult
        expect(reason).toBeInstanceOf(Problem)
        expect(reason).toMatchObject({ status: 503, code: 'profile-unavailable', options: { retryAfterMs: 1000 } })
      }
      expect(errors).toHaveLength(1)
      expect(errors[0]).toContain(message)
      expect(errors[0]).not.toContain('10.0.0.1')
      expect(errors[0]).not.toContain('ann')
    },
  )

  test.each([
    [{ attributes: { skill: null } }, 'entry 1 of the answer: attributes.skill: must be a number, a text, true'],
    [{ attribute: {} }, 'entry 1 of the answer: attribute: is not known; did you mean attributes?'],
  ])('a profile resolver that returns the invalid profile %j fails only for this player', async (wrong, message) => {
    const answer = new Map([
      ['ann', skill(7)],
      ['ben', wrong as PlayerProfile],
    ])
    const refusing = setUp({ resolve: () => answer })
    const [ann, ben] = await Promise.allSettled([refusing.profiles('ann'), refusing.profiles('ben')])
    expect(ann).toMatchObject({ value: skill(7) })
    expect(ben).toMatchObject({ reason: { status: 503, code: 'profile-unavailable' } })
    expect(refusing.errors).toHaveLength(1)
    expect(refusing.errors[0]).toContain(message)
    expect(refusing.errors[0]).not.toContain('ben')

    const lenient = setUp({ resolve: () => answer, whenFailed: skill(1000) })
    expect(await lenient.profiles('ben')).toEqual(skill(1000))
  })

  test('the default profile replaces the answer of a failing resolver, and is not cached', async () => {
    let isBroken = true
    const resolve: ProfileOptions['resolve'] = (ids) => {
      if (isBroken) throw new Error('broken')
      return new Map(ids.map((id) => [id, skill(9)]))
    }
    const { profiles } = setUp({ resolve, whenFailed: skill(1000) })
    expect(await profiles('ann')).toEqual(skill(1000))
    isBroken = false
    expect(await profiles('ann')).toEqual(skill(9))
  })

  test('a profile resolver that times out is aborted by its signal, and its late answer is ignored', async () => {
    const signals: AbortSignal[] = []
    let answer: (found: Map<string, PlayerProfile>) => void = () => {}
    const { profiles, clock, errors } = setUp({
      timeoutMs: 300,
      resolve: (_, signal) => {
        signals.push(signal)
        return new Promise((done) => (answer = done))
      },
    })
    const asked = Promise.resolve(profiles('ann')).catch((error: unknown) => error)
    await new Promise((done) => setImmediate(done))
    expect(signals[0]?.aborted).toBe(false)
    await clock.advance(300)
    expect(await asked).toMatchObject({ status: 503 })
    expect([signals[0]?.aborted, errors]).toEqual([
      true,
      ['Error: reading player profiles failed: the backend did not answer within 300 ms'],
    ])
    answer(new Map([['ann', skill(1)]]))
    expect(profiles('ann')).toBeInstanceOf(Promise)
  })
})
