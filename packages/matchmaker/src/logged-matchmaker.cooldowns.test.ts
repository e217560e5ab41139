import { afterEach, expect, test } from 'vitest'
import { PlayerCoolingDown } from './errors.js'
import { createWorlds, duel } from './logged-matchmaker.fixture.js'

const { createWorld, removeAll } = createWorlds()
afterEach(removeAll)

test('cooldowns survive kill -9, except for cooldowns that have ended or were forgiven', async () => {
  const asking = { ...duel, acceptance: { withinMs: 10_000 }, cooldown: { firstMs: 60_000, forgiveAfterMs: 60_000 } }
  const world = createWorld({ queues: [asking] })
  const first = await world.live()
  for (const id of ['ann', 'ben', 'cas', 'dee']) first.join(id)
  await first.run(250)
  first.matchmaker.declineMatch('ann')
  first.matchmaker.declineMatch('cas')
  first.matchmaker.forgive('cas')
  const cooldowns = first.matchmaker.exportCooldowns()
  expect(cooldowns).toMatchObject([{ playerId: 'ann' }])
  world.kill()

  const next = await world.live()
  expect(next.matchmaker.exportCooldowns()).toEqual(cooldowns)
  expect(() => next.join('ann', 'eve')).toThrow(PlayerCoolingDown)
  expect(() => next.join('cas', 'fay')).not.toThrow()
  await world.clock.advance(120_000)
  await next.run(500)
  world.kill()

  const last = await world.live()
  expect(last.matchmaker.exportCooldowns()).toEqual([])
  expect(() => last.join('ann', 'gus')).not.toThrow()
})

test('a cooldown is no longer than `maxMs` after a restart with a clock that was set back', async () => {
  const asking = { ...duel, acceptance: { withinMs: 10_000 }, cooldown: { firstMs: 60_000, maxMs: 120_000 } }
  const world = createWorld({ queues: [asking] })
  const first = await world.live()
  for (const id of ['ann', 'ben']) first.join(id)
  await first.run(250)
  first.matchmaker.declineMatch('ann')
  world.kill()
  const slow = { now: () => world.clock.now() - 36_000_000, sleep: world.clock.sleep }
  const next = await world.live({ clock: slow, log: { clock: slow } })
  expect(() => next.join('ann', 'cas')).toThrow(PlayerCoolingDown)
  await world.clock.advance(120_000)
  expect(() => next.join('ann', 'cas')).not.toThrow()
})
