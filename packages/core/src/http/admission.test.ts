import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { createAdmission, type Identification, type RequestLimits, UNKNOWN_ADDRESS } from './admission.js'
import { Problem } from './answers.js'
import { createMemoryLimitStore, prefixed } from './attempts.js'

interface Who {
  readonly id: string
}

const limit = { limit: 2, windowMs: 2000 }

function setUp(limits: RequestLimits<Who> = { perAddress: limit, exempt: ({ id }) => id === 'backend' }) {
  const clock = createManualClock()
  const admission = createAdmission<Who>(limits, clock)
  const known = new Set(['ann', 'backend'])
  let looks = 0
  const ask = async (token: string, from = 'a', more: Partial<Identification<Who>> = {}): Promise<string> => {
    try {
      const headers = token === '' ? {} : { authorization: token }
      const { id } = await admission.caller(new Request('http://localhost/', { headers }), from, {
        authenticate: async () => {
          looks += 1
          if (token === 'expired') throw new Problem(401, 'token-expired', 'The token has expired. Send a new one.')
          if (token === 'unfit') throw new Problem(403, 'wrong-role', 'the token has another role')
          return known.has(token) ? { id: token } : undefined
        },
        ...more,
      })
      return id
    } catch (error) {
      return String((error as Problem).status)
    }
  }
  const askAll = async (tokens: readonly string[], from = 'a', more: Partial<Identification<Who>> = {}) => {
    const answers: string[] = []
    for (const token of tokens) answers.push(await ask(token, from, more))
    return answers
  }
  return { clock, admission, known, ask, askAll, looks: () => looks }
}

describe('an address that has used up its token guesses', () => {
  test('an address that used up its token guesses gets no new token checked, unlike other addresses', async () => {
    const { ask, askAll, looks, clock } = setUp()
    expect(await askAll(['x', 'expired', 'z', 'ann', 'backend'])).toEqual(['401', '401', '429', '429', '429'])
    expect(looks()).toBe(2)
    expect(await askAll(['ann', 'backend'], 'b')).toEqual(['ann', 'backend'])
    expect(await ask('backend')).toBe('429')
    await clock.advance(1000)
    expect(await ask('ann')).toBe('ann')
  })

  test('an address that used up its token guesses still admits a token that it used before', async () => {
    const { askAll } = setUp({ perAddress: { limit: 5, windowMs: 5000 } })
    const wrong = ['u', 'v', 'w', 'x', 'y', 'z']
    expect(await askAll(['ann', 'backend'])).toEqual(['ann', 'backend'])
    expect(await askAll(wrong)).toEqual(['401', '401', '401', '401', '401', '429'])
    expect(await askAll(['ann', 'backend', 'ann', 'ben'])).toEqual(['ann', 'backend', 'ann', '429'])
  })

  test('an address that used up its token guesses still admits its own tokens after a reload', async () => {
    const stores = createMemoryLimitStore(createManualClock())
    const limits = (prefix: string) => ({
      perAddress: { limit: 5, windowMs: 5000 },
      store: prefixed(stores, prefix),
    })
    const before = setUp(limits('tickets'))
    expect(await before.askAll(['ann', 'u', 'v', 'w', 'x', 'y', 'z'])).toContain('429')
    expect(await setUp(limits('tickets')).askAll(['ann', 'backend'])).toEqual(['ann', '429'])
    const reloaded = setUp(limits('tickets'))
    reloaded.known.delete('ann')
    expect(await reloaded.askAll(['ann', 'ann'])).toEqual(['401', '429'])
    expect(await setUp(limits('lobbies')).askAll(['ann', 'backend'])).toEqual(['ann', 'backend'])
  })

  test('a token whose caller is cached is not checked, even if its address used up its token guesses', async () => {
    const { askAll, looks } = setUp()
    await askAll(['x', 'y'])
    const before = looks()
    expect(await askAll(['ann', 'ann'], 'a', { recall: () => ({ id: 'ann' }) })).toEqual(['ann', 'ann'])
    expect(looks()).toBe(before)
  })

  test('an address that used up its token guesses gets 100 signed tokens a second checked', async () => {
    const { askAll, looks } = setUp()
    await askAll(['x', 'y'])
    const before = looks()
    const wrong = Array.from({ length: 500 }, (_, index) => `signed-${index}`)
    const answers = await askAll(wrong, 'a', { isSigned: () => true })
    expect([looks() - before, answers.filter((answer) => answer === '429').length]).toEqual([100, 400])
    expect(await askAll(['ann'], 'a', { isSigned: () => true })).toEqual(['429'])
  })

  test('all addresses that used up their token guesses share a limit of 1,000 checks of signed tokens', async () => {
    const { askAll, looks } = setUp({ perAddress: { limit: 1, windowMs: 1000 } })
    const addresses = Array.from({ length: 15 }, (_, index) => `address-${index}`)
    for (const from of addresses) await askAll(['x'], from)
    const before = looks()
    for (const from of addresses) await askAll(Array(90).fill('signed'), from, { isSigned: () => true })
    expect(looks() - before).toBe(1000)
  })
})

test('known players share the rate limit of their address, and backends do not count against that limit', async () => {
  const { askAll, known } = setUp()
  for (const id of ['ben', 'cleo']) known.add(id)
  expect(await askAll(['backend', 'ann', 'ben', 'backend', 'cleo', 'backend', 'ann'])).toEqual([
    'backend',
    'ann',
    'ben',
    'backend',
    '429',
    'backend',
    '429',
  ])
})

test('an authentication failure that says nothing about the token does not count as a guess', async () => {
  const { askAll } = setUp()
  expect(await askAll(['unfit', 'unfit', 'ann'])).toEqual(['403', '403', 'ann'])
})

test('a token that was accepted but is no longer valid counts as a guess, and must be checked anew', async () => {
  const { ask, askAll, known } = setUp()
  expect(await askAll(['backend', 'x'])).toEqual(['backend', '401'])
  known.delete('backend')
  expect(await askAll(['backend', 'backend'])).toEqual(['401', '429'])
  known.add('backend')
  expect(await ask('backend')).toBe('429')
})

test('a request without an Authorization header is never remembered as accepted', async () => {
  const { ask, askAll, known } = setUp()
  known.add('')
  expect(await ask('')).toBe('')
  expect(await askAll(['x', 'y', ''])).toEqual(['401', '401', '429'])
})

test('requests without credentials have a rate limit of their own, separate from that of known callers', async () => {
  const { admission, askAll } = setUp()
  await admission.anonymous('a')
  await admission.anonymous('a')
  await expect(admission.anonymous('a')).rejects.toThrow('Too many requests')
  expect(await askAll(['ann', 'x'])).toEqual(['ann', '401'])
})

test('each further 64 KiB of a body counts as a request of its caller, unless the caller has no limit', async () => {
  const { admission, askAll, clock } = setUp({
    perCaller: { limit: 4, windowMs: 4000 },
    exempt: ({ id }) => id === 'backend',
  })
  for (const id of ['ann', 'backend']) admission.countBody({ id }, 64 * 1024)
  expect(await askAll(['ann', 'ann', 'ann', 'ann', 'ann'])).toEqual(['ann', 'ann', 'ann', 'ann', '429'])
  await clock.advance(4000)
  for (const id of ['ann', 'backend']) admission.countBody({ id }, 3 * 64 * 1024 + 1)
  expect(await askAll(['ann', 'ann', 'backend', 'backend', 'backend'])).toEqual([
    'ann',
    '429',
    'backend',
    'backend',
    'backend',
  ])
  for (const size of [Number.NaN, -1, 0]) admission.countBody({ id: 'ann' }, size)
  await clock.advance(1000)
  expect(await askAll(['ann'])).toEqual(['ann'])
})

test('wrong tokens from its address never delay a caller who was admitted before (property)', async () => {
  const request = fc.record({ guess: fc.integer({ min: 0, max: 5 }), pause: fc.integer({ min: 0, max: 3000 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 60, size: 'max' }), async (requests) => {
      const { ask, clock } = setUp({ perAddress: { limit: 3, windowMs: 3000 }, exempt: ({ id }) => id === 'backend' })
      expect(await ask('ann')).toBe('ann')
      let last = clock.now()
      for (const { guess, pause } of requests) {
        for (let turn = 0; turn < guess; turn += 1) expect(['401', '429']).toContain(await ask(`guess-${turn}`))
        await clock.advance(pause)
        if (clock.now() - last < 1000) continue
        last = clock.now()
        expect(await ask('ann')).toBe('ann')
      }
    }),
    { numRuns: 30 },
  )
})

test('callers whose address is unknown share one rate limit, and a refusal names this reason', async () => {
  const { admission } = setUp()
  for (let turn = 0; turn < 2; turn += 1) await admission.anonymous(UNKNOWN_ADDRESS)
  await expect(admission.anonymous(UNKNOWN_ADDRESS)).rejects.toThrow(
    'Too many requests: client addresses are unknown here, so all callers count as one.',
  )
  expect(await admission.anonymous('a')).toBeUndefined()
})

test('authenticate may return a caller or a promise, even a promise from another JavaScript realm', async () => {
  const { admission } = setUp({ perCaller: limit, perAddress: limit })
  const request = new Request('http://localhost/')
  expect(await admission.caller(request, 'a', { authenticate: () => ({ id: 'ann' }) })).toEqual({ id: 'ann' })
  const foreign = runInNewContext(`Promise.resolve({ id: 'ben' })`) as Promise<Who>
  expect(foreign).not.toBeInstanceOf(Promise)
  expect(await admission.caller(request, 'a', { authenticate: () => foreign })).toEqual({ id: 'ben' })
  await expect(admission.caller(request, 'b', { authenticate: () => undefined })).rejects.toThrow(
    'Unknown caller. Send `Authorization: Bearer <token>` with a valid token.',
  )
})

test('requests whose token is valid and not accepted here are limited, apart from those of known callers', async () => {
  const { askAll } = setUp()
  expect(await askAll(['unfit', 'unfit', 'unfit'])).toEqual(['403', '403', '429'])
  expect(await askAll(['ann', 'ann'])).toEqual(['ann', 'ann'])
  const recall = () => {
    throw new Problem(403, 'wrong-role', 'the token has another role')
  }
  expect(await askAll(['x', 'x', 'x'], 'b', { recall })).toEqual(['403', '403', '429'])
})
