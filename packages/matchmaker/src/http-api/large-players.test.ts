import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deploy } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'
import { setUpReal } from './ticket-api.fixture.js'

const royale: QueueDefinition = { name: 'royale', matchSize: 40, deploy }

/** Generates attributes that fill the 16 KiB of a player's body in various ways. */
const large = fc.record({
  bytes: fc.integer({ min: 5000, max: 15_900 }),
  character: fc.constantFrom('x', 'é', '"', '\\'),
  entry: fc.integer({ min: 1, max: 120 }),
})

function attributesOf({ bytes, character, entry }: { bytes: number; character: string; entry: number }): object {
  const each = Buffer.byteLength(JSON.stringify(character.repeat(entry))) + 8
  const entries = Array.from(
    { length: Math.min(1200, Math.floor((bytes - 100) / each)) },
    (_, index) => `${index}${character.repeat(entry)}`,
  )
  return Object.fromEntries(
    Array.from({ length: Math.ceil(entries.length / 100) }, (_, index) => [
      `a${index}`,
      entries.slice(100 * index, 100 * (index + 1)),
    ]),
  )
}

test('large attributes of seventeen accounts do not keep other players out of a match', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(large, { minLength: 17, maxLength: 17 }), async (accounts) => {
      const { call, service, clock } = setUpReal([royale])
      const problems: unknown[] = []
      service.on('problem', ({ error }) => problems.push(error))
      const statuses: number[] = []
      for (const [index, account] of accounts.entries()) {
        const { status } = await call(`attacker-${index}`, 'POST', '/tickets', {
          profile: 'royale',
          attributes: attributesOf(account),
        })
        statuses.push(status)
      }
      for (let player = 0; player < 80; player += 1) {
        const body = { profile: 'royale', attributes: { name: 'a player like others', hat: 'red' } }
        expect((await call(`p${player}`, 'POST', '/tickets', body)).status).toBe(201)
      }
      for (let step = 0; step < 40; step += 1) {
        await service.tick()
        await clock.advance(250)
      }
      expect(statuses.filter((status) => status !== 201 && status !== 400)).toEqual([])
      expect(problems).toEqual([])
      expect(service.inspect().matches).toHaveLength(2)
    }),
    { numRuns: 8 },
  )
})

test('an attribute too large for the matches of its queue is refused with its name and the sizes', async () => {
  const { call } = setUpReal([royale, { ...royale, name: 'duel', matchSize: 2 }])
  const attributes = attributesOf({ bytes: 15_900, character: 'x', entry: 100 })
  const { status, json } = await call('ann', 'POST', '/tickets', { profile: 'royale', attributes })
  expect([status, json]).toMatchObject([400, { code: 'invalid-ticket', field: 'attributes' }])
  expect((json as { message: string }).message).toMatch(
    new RegExp(
      '^attributes: are too large: they take \\d{5} bytes of the environment of their server, ' +
        'but in a match of 40 players only \\d{4} bytes fit$',
    ),
  )
  expect((await call('ann', 'POST', '/tickets', { profiles: ['duel', 'royale'], attributes })).status).toBe(400)
  expect((await call('ann', 'POST', '/groups', { profile: 'royale', attributes })).status).toBe(400)
  expect((await call('ann', 'POST', '/tickets', { profile: 'duel', attributes })).status).toBe(201)
})
