import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { type Allocation, inheritedAllocation } from './records/allocation.js'
import { createWebhookReceiver } from './webhooks.js'

function setUp(match: Partial<Allocation> = {}, baseUrl: string | undefined = 'https://game.example.com/hooks/') {
  const intent = { matchId: 'm1', queue: 'q', tag: 't', ticketIds: [], at: 0 }
  const known: Allocation = Object.assign(inheritedAllocation(intent), match)
  const hints: (readonly [matchId: string, hint: unknown])[] = []
  const receiver = createWebhookReceiver({
    clock: createManualClock(),
    baseUrl,
    find: (token) => (token === 'hush' ? known : undefined),
    tokenOf: () => 'hush',
    hinted: ({ matchId }, hint) => hints.push([matchId, hint]),
  })
  const post = async (path: string, body: string, method = 'POST') => {
    const init = method === 'GET' ? { method } : { method, body }
    const { status } = await receiver.receive(new Request(`https://game.example.com${path}`, init))
    return status
  }
  return { receiver, known, hints, post }
}
const ready = JSON.stringify({ request_id: 'r1', current_status: 'Status.READY' })

test('each match has its own path if a webhook URL is set', () => {
  const { receiver, known } = setUp()
  expect(receiver.urlOf(known)).toBe('https://game.example.com/hooks/hush')
  expect(
    createWebhookReceiver({
      clock: createManualClock(),
      baseUrl: undefined,
      find: () => known,
      tokenOf: () => 'hush',
      hinted: () => {},
    }).urlOf(known),
  ).toBeUndefined()
})

test.each([
  [ready, { request_id: 'r1', current_status: 'Status.READY' }],
  ['{"request_id":"r1"}', { request_id: 'r1', current_status: undefined }],
  ['{}', undefined],
  ['not JSON', undefined],
  ['', undefined],
])('a call at the path of a match is a hint, whatever its body: %j', async (body, hint) => {
  const { hints, post } = setUp()
  expect(await post('/any/where/hush', body)).toBe(204)
  expect(hints).toEqual([['m1', hint]])
})

test.each([
  ['a wrong token', '/hooks/hash', ready, 'POST', 404],
  ['no token', '/hooks/', ready, 'POST', 404],
  ['another method', '/hooks/hush', ready, 'GET', 405],
  ['more than 64 KiB', '/hooks/hush', ' '.repeat(64 * 1024 + 1), 'POST', 413],
])('%s is refused', async (_, path, body, method, status) => {
  const { hints, post } = setUp({ requestId: 'r1' })
  expect(await post(path, body, method)).toBe(status)
  expect(hints).toEqual([])
})
