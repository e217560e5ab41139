import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createWebhookReceiver, webhookUrlOf } from './webhooks.js'

function setUp() {
  const hints: (readonly [server: string, hint: unknown])[] = []
  const receive = createWebhookReceiver({
    clock: createManualClock(),
    find: (token) => (token === 'hush' ? 'm1' : undefined),
    hinted: (server, hint) => hints.push([server, hint]),
  })
  const post = async (path: string, body: string, method = 'POST') => {
    const init = method === 'GET' ? { method } : { method, body }
    const { status } = await receive(new Request(`https://game.example.com${path}`, init))
    return status
  }
  return { hints, post }
}
const ready = JSON.stringify({ request_id: 'r1', current_status: 'Status.READY' })

test('each server has its own path', () => {
  expect(webhookUrlOf('https://game.example.com/hooks/', 'hush')).toBe('https://game.example.com/hooks/hush')
})

test.each([
  [ready, { handle: 'r1', isReady: true }],
  ['{"request_id":"r1"}', { handle: 'r1', isReady: false }],
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
  const { hints, post } = setUp()
  expect(await post(path, body, method)).toBe(status)
  expect(hints).toEqual([])
})
