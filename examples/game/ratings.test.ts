import { createHmac, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createRatings } from './ratings.js'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const NOW = Date.parse('2026-11-26T12:00:00Z')

function delivery(
  ranking: readonly (readonly string[])[] | null,
  { id = randomUUID() as string, at = NOW, by = 7 } = {},
) {
  const body = JSON.stringify({ type: 'match.over', id, data: { ranking } })
  const seconds = String(at / 1000)
  const mac = createHmac('sha256', Buffer.alloc(32, by)).update(`${id}.${seconds}.${body}`).digest('base64')
  return [
    new Headers({ 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${mac}` }),
    body,
  ] as const
}

const open = () => createRatings(secret, () => NOW)

test('the winner’s rating rises, the loser’s falls, and the best players are listed first', () => {
  const ratings = open()
  expect(ratings.standing('ann')).toEqual({ id: 'ann', shown: 1000, played: 0, won: 0 })
  expect(ratings.take(...delivery([['ann'], ['ben']]))).toBe(204)
  expect(ratings.of('ann').mu).toBeGreaterThan(25)
  expect(ratings.of('ben').mu).toBeLessThan(25)
  expect(ratings.best(10, () => true).map(({ id, played, won }) => [id, played, won])).toEqual([
    ['ann', 1, 1],
    ['ben', 1, 0],
  ])
  expect(ratings.best(10, (id) => id !== 'ann').map(({ id }) => id)).toEqual(['ben'])
})

test('a match result that arrives twice counts once in the ratings', () => {
  const ratings = open()
  const given = delivery([['ann'], ['ben']])
  expect([ratings.take(...given), ratings.take(...given)]).toEqual([204, 204])
  expect(ratings.standing('ann').played).toBe(1)
})

test('a match result with a wrong signature or an old date is refused', () => {
  const ratings = open()
  expect(ratings.take(...delivery([['ann'], ['ben']], { by: 8 }))).toBe(401)
  expect(ratings.take(...delivery([['ann'], ['ben']], { at: NOW - 600_000 }))).toBe(401)
  const [headers] = delivery([['ann'], ['ben']])
  expect(ratings.take(headers, '{"type":"match.over","data":{"ranking":[["ben"],["ann"]]}}')).toBe(401)
  expect(ratings.take(new Headers(), '{}')).toBe(401)
  expect(ratings.best(10, () => true)).toEqual([])
})

test('a match without a result changes no rating', () => {
  const ratings = open()
  expect(ratings.take(...delivery(null))).toBe(204)
  expect(ratings.best(10, () => true)).toEqual([])
})
