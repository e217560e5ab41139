import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createManualClock } from '../manual-clock.js'
import { createAdmission, UNKNOWN_ADDRESS, type RequestLimits } from './admission.js'
import type { Problem } from './problem.js'

interface Who {
  readonly id: string
}

const limit = { limit: 2, windowMs: 2000 }

function setUp(limits: RequestLimits<Who> = { perAddress: limit, exempt: ({ id }) => id === 'backend' }) {
  const clock = createManualClock()
  const admission = createAdmission<Who>(limits, clock)
  const known = new Set(['ann', 'backend'])
  let looks = 0
  const ask = async (token: string, from = 'a', hold?: Promise<unknown>): Promise<string> => {
    try {
      const request = new Request('http://localhost/', { headers: { authorization: token } })
      const { id } = await admission.caller(request, from, async () => {
        looks += 1
        await hold
        return known.has(token) ? { id: token } : undefined
      })
      return id
    } catch (error) {
      return String((error as Problem).status)
    }
  }
  return { clock, admission, known, ask, looks: () => looks }
}

test('guesses of tokens are limited by address, and then no longer authenticated', async () => {
  const { ask, looks, clock } = setUp({ perAddress: limit })
  expect([await ask('x'), await ask('y'), await ask('z'), await ask('ann')]).toEqual(['401', '401', '429', '429'])
  expect(looks()).toBe(2)
  expect(await ask('ann', 'b')).toBe('ann')
  await clock.advance(1000)
  expect(await ask('ann')).toBe('ann')
})

test('a backend is admitted from an address over its limit, even on its first request', async () => {
  const { ask } = setUp()
  expect([await ask('x'), await ask('y'), await ask('z')]).toEqual(['401', '401', '429'])
  for (let turn = 0; turn < 5; turn += 1) expect(await ask('backend')).toBe('backend')
  expect([await ask('ann'), await ask('z')]).toEqual(['429', '429'])
})

test('of an address over its limit, few are authenticated at a time, besides known backends', async () => {
  const { ask, looks } = setUp()
  let release = () => {}
  const hold = new Promise<void>((resolve) => {
    release = resolve
  })
  expect([await ask('backend'), await ask('x'), await ask('y')]).toEqual(['backend', '401', '401'])
  const before = looks()
  const guesses = Array.from({ length: 50 }, (_, index) => ask(`guess-${index}`, 'a', hold))
  const backends = Array.from({ length: 50 }, () => ask('backend', 'a', hold))
  await new Promise((resolve) => setImmediate(resolve))
  expect(looks() - before).toBe(8 + 50)
  release()
  expect(new Set(await Promise.all(guesses))).toEqual(new Set(['429']))
  expect(new Set(await Promise.all(backends))).toEqual(new Set(['backend']))
})

test("a token that was a backend's and no longer is, is not admitted from memory", async () => {
  const { ask, known } = setUp()
  expect([await ask('backend'), await ask('x'), await ask('y')]).toEqual(['backend', '401', '401'])
  known.delete('backend')
  expect(await ask('backend')).toBe('429')
})

test('callers with an unknown address count as one, and their refusal says why', async () => {
  const { admission } = setUp()
  for (let turn = 0; turn < 2; turn += 1) admission.anonymous(UNKNOWN_ADDRESS)
  expect(() => admission.anonymous(UNKNOWN_ADDRESS)).toThrow(
    'too many requests: no addresses are known here, so all callers count as one',
  )
  expect(() => admission.anonymous('a')).not.toThrow()
})

test('a caller who is known at once is admitted at once, and a promise of another realm is awaited', async () => {
  const { admission } = setUp({ perCaller: limit, perAddress: limit })
  const request = new Request('http://localhost/')
  expect(admission.caller(request, 'a', () => ({ id: 'ann' }))).toEqual({ id: 'ann' })
  const foreign = runInNewContext(`Promise.resolve({ id: 'ben' })`) as Promise<Who>
  expect(foreign).not.toBeInstanceOf(Promise)
  expect(await admission.caller(request, 'a', () => foreign)).toEqual({ id: 'ben' })
  expect(() => admission.caller(request, 'b', () => undefined)).toThrow('it is not known who calls')
})
