import { expect, test, vi } from 'vitest'
import { PlayerCoolingDown } from '../errors.js'
import { defineQueue, type QueueDefinition } from '../queues/queue.js'
import { createCooldowns, type CooldownsOptions } from './cooldowns.js'

const queueOf = (name: string, cooldown: QueueDefinition['cooldown']) =>
  defineQueue({ name, matchSize: 2, cooldown, deploy: { application: 'game', version: '1' } })
const terms = { firstMs: 1000, forgiveAfterMs: 10_000 }
const duel = queueOf('duel', terms)

const setUp = (options: Partial<CooldownsOptions> = {}) => {
  const changed = vi.fn<CooldownsOptions['changed']>()
  const cooldowns = createCooldowns({ began: () => {}, changed, queues: () => [duel], ...options })
  const isKept = (playerId: string, queue = duel, now = 0) => {
    try {
      cooldowns.check(playerId, queue, now)
      return false
    } catch (error) {
      if (error instanceof PlayerCoolingDown) return true
      throw error
    }
  }
  return { cooldowns, changed, isKept }
}

test('a player may not queue until the cooldown ends, and the error says until when', () => {
  const { cooldowns, isKept } = setUp()
  cooldowns.count(duel, ['ann'], 'declined', 500)
  expect(() => cooldowns.check('ann', duel, 600)).toThrow(new PlayerCoolingDown('ann', 'duel', 1500, 600))
  expect([isKept('ann', duel, 1499), isKept('ann', duel, 1500), isKept('ben', duel, 600)]).toEqual([true, false, false])
})

test('cooldowns of queues are separate, unless they share a name', () => {
  const { cooldowns, isKept } = setUp()
  const [one, other] = [queueOf('a', { ...terms, name: 'both' }), queueOf('b', { ...terms, name: 'both' })]
  const plain = queueOf('both', undefined)
  cooldowns.count(one, ['ann'], 'left', 0)
  expect([one, other].map((queue) => isKept('ann', queue))).toEqual([true, true])
  expect([duel, plain].map((queue) => isKept('ann', queue))).toEqual([false, false])
  cooldowns.count(other, ['ann'], 'left', 0)
  expect(cooldowns.of('ann', 0)).toMatchObject([{ name: 'both', offences: 2 }])
})

test('only offences that the queue lists start a cooldown', () => {
  const { cooldowns, isKept } = setUp()
  cooldowns.count(queueOf('duel', { ...terms, for: ['left'] }), ['ann'], 'declined', 0)
  cooldowns.count(queueOf('duel', undefined), ['ben'], 'left', 0)
  expect([isKept('ann'), isKept('ben')]).toEqual([false, false])
})

test('a cooldown that has decayed is removed, and the change is reported', () => {
  const { cooldowns, changed } = setUp()
  for (let nth = 0; nth < 1200; nth += 1) cooldowns.count(duel, [`p${nth}`], 'left', nth < 1100 ? 0 : 50_000)
  changed.mockClear()
  for (let tick = 0; tick < 4; tick += 1) cooldowns.advance(20_000)
  expect(changed).toHaveBeenCalledTimes(1100)
  expect(changed).toHaveBeenLastCalledWith('p1099', 'duel', undefined)
  expect(cooldowns.all(20_000)).toHaveLength(100)
  cooldowns.advance(1e9)
  expect(cooldowns.all(1e9)).toEqual([])
})

test('beyond the limit of records, the cooldowns that changed longest ago are forgotten', () => {
  const { cooldowns, changed, isKept } = setUp({ mostPlayers: 2 })
  for (const id of ['ann', 'ben', 'ann', 'cas']) cooldowns.count(duel, [id], 'left', 0)
  expect([isKept('ann'), isKept('ben'), isKept('cas')]).toEqual([true, false, true])
  expect(changed).toHaveBeenLastCalledWith('ben', 'duel', undefined)
})

test('after cooldowns are forgiven, the next cooldown of the player has the first length', () => {
  const { cooldowns, changed, isKept } = setUp()
  cooldowns.count(duel, ['ann'], 'left', 0)
  cooldowns.count(queueOf('other', terms), ['ann'], 'left', 0)
  expect(cooldowns.forgive('ann', 10)).toBe(true)
  expect(cooldowns.forgive('ann', 10)).toBe(false)
  expect(isKept('ann')).toBe(false)
  expect(changed.mock.calls.slice(2)).toEqual([
    ['ann', 'duel', undefined],
    ['ann', 'other', undefined],
  ])
  cooldowns.count(duel, ['ann'], 'left', 10)
  expect(cooldowns.of('ann', 10)).toMatchObject([{ offences: 1, until: 1010 }])
})

test('exported cooldowns can be loaded: of two ends the later one applies, and decayed cooldowns are left out', () => {
  const { cooldowns } = setUp()
  cooldowns.count(duel, ['ann', 'ben', 'ann'], 'left', 0)
  const all = cooldowns.all(0)
  const next = setUp()
  next.cooldowns.count(duel, ['ben'], 'left', 500)
  next.cooldowns.load(all, 600)
  expect(next.cooldowns.of('ann', 600)).toEqual(cooldowns.of('ann', 600))
  expect(next.cooldowns.of('ben', 600)).toMatchObject([{ until: 1500 }])
  const late = setUp()
  late.cooldowns.load(all, 1e9)
  expect(late.cooldowns.all(1e9)).toEqual([])
  expect(late.changed).not.toHaveBeenCalled()
})
