import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createServerSecrets } from './match-environment.js'

test('only issued secrets are recognized', () => {
  const secrets = createServerSecrets(seededRandom(1))
  const others = createServerSecrets(seededRandom(2))
  const one = secrets.create()
  expect(one).toMatch(/^[0-9a-v]{21}$/)
  expect([secrets.isOne(one), secrets.isOne(others.create()), secrets.isOne('')]).toEqual([true, false, false])
  fc.assert(
    fc.property(
      fc.nat({ max: one.length - 1 }),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      (at, character) => {
        const changed = one.slice(0, at) + character + one.slice(at + 1)
        expect(secrets.isOne(changed)).toBe(changed === one)
      },
    ),
  )
})
