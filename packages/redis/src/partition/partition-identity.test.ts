import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { PartitionIdentity } from './partition-identity.js'

function setUp() {
  const stored: { identity: string | undefined; hasGoneBack: boolean } = { identity: 'one', hasGoneBack: false }
  const problems: unknown[] = []
  const identity = new PartitionIdentity({
    store: {
      readPartitionRecords: async () => [stored.identity],
      hasGoneBack: async () => {
        const { hasGoneBack } = stored
        stored.hasGoneBack = false
        return hasGoneBack
      },
    },
    clock: createManualClock(),
    name: 'eu',
    longestMatchMs: () => 1000,
    problem: (error) => problems.push(error),
  })
  /** Compares, and returns the number of new problems. */
  const compare = async () => {
    await identity.compare()
    return problems.splice(0).length
  }
  return { stored, identity, compare }
}

test('a process that noticed a loss reports it once, although the next leader then replaces the identity', async () => {
  const { stored, identity, compare } = setUp()
  expect(await compare()).toBe(0)
  stored.hasGoneBack = true
  expect(await compare()).toBe(1)
  expect([identity.isVoid('one'), identity.timesVanished(), identity.sparesUnknownServers()]).toEqual([true, 1, true])
  expect(await compare()).toBe(0)
  stored.identity = 'two'
  expect(await compare()).toBe(0)
  expect(identity.isVoid('two')).toBe(false)
})

test.each([['three'], [undefined]])('a process that has reported one loss reports the next: %s', async (identity) => {
  const { stored, compare } = setUp()
  await compare()
  stored.hasGoneBack = true
  await compare()
  stored.identity = 'two'
  await compare()
  stored.identity = identity
  expect([await compare(), await compare()]).toEqual([1, 0])
})

test('a process that did not notice a loss learns of it by the replaced identity', async () => {
  const { stored, compare } = setUp()
  await compare()
  stored.identity = 'two'
  expect([await compare(), await compare()]).toEqual([1, 0])
})
