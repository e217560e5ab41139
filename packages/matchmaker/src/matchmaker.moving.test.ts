/** A pool moves to another source of servers while players arrive all the time. */
import { ServerError } from '@muster/core'
import { expect, test } from 'vitest'
import { arena, BOOT_MS, openMoving, watchPlayers } from './moving-pool.fixture.js'

test('1,000 matches are played while their pool changes its source three times, and no player is lost', async () => {
  const { join, run, moveTo, keepOwn, interrupted, sourcesThere, seen, ...world } = openMoving()
  const { faults, told } = watchPlayers(world)
  let players = 0
  /** Two players arrive every half second and form a match. */
  const play = async (matches: number) => {
    for (let nth = 0; nth < matches; nth += 1) {
      for (const _ of [1, 2]) await join(`p${(players += 1)}`)
      await run(500)
    }
  }
  await run(2 * BOOT_MS)
  await play(250)
  expect(sourcesThere()).toEqual(['service'])

  moveTo({ ...arena, source: 'metal' })
  await play(250)
  expect(sourcesThere()).toEqual(['metal'])

  // Fewer enrolled servers than the pool wants warm. Muster cannot create the missing ones.
  keepOwn(12)
  await run(1000)
  moveTo({ ...arena, source: 'enrolled' })
  await play(250)
  expect(sourcesThere()).toEqual(['enrolled'])

  // Move back, machine by machine.
  moveTo(arena)
  for (const many of [8, 4, 0]) {
    keepOwn(many)
    await play(20)
  }
  await play(190)
  expect(sourcesThere()).toEqual(['service'])

  await run(20_000)
  expect(faults).toEqual([])
  expect(told.size).toBe(2000)
  expect(new Set(Array.from(told.values(), ({ source }) => source))).toEqual(new Set(['service', 'metal', 'enrolled']))
  expect(interrupted).toEqual([])
  expect(seen.matchOver).toHaveLength(1000)
  expect(seen.matchOver?.filter(({ reason }) => reason !== 'over')).toEqual([])
  expect([seen.ticketRequeued, seen.deploymentFailed, seen.serverLost, seen.problem]).toEqual(Array(4).fill(undefined))
  expect(world.metal().running()).toEqual([])
  // As without a move: 99 of 100 matches find a warm server, and the others wait for a boot.
  const waits = Array.from(told.values(), ({ ms }) => ms).toSorted((one, other) => one - other)
  expect(waits[0.99 * waits.length]).toBeLessThan(2000)
  expect(waits.at(-1)).toBeLessThan(BOOT_MS + 2000)
})

test('players without a server from a failing source get a server once the pool has another source', async () => {
  const { join, run, moveTo, status } = openMoving({
    pool: { ...arena, source: 'metal' },
    fault: () => ({ error: new ServerError('502') }),
  })
  for (const player of ['ann', 'ben']) await join(player)
  await run(10_000)
  expect(status('ann')).not.toBe('HOST_ASSIGNED')
  moveTo(arena)
  await run(20_000)
  expect([status('ann'), status('ben')]).toEqual(['HOST_ASSIGNED', 'HOST_ASSIGNED'])
})
