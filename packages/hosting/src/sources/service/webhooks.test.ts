import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createWebhookReceiver, webhookUrlOf } from './webhooks.js'

function setUp(failing?: Error) {
  const failures: unknown[] = []
  const hints: (readonly [server: string, hint: unknown])[] = []
  const receive = createWebhookReceiver({
    clock: createManualClock(),
    find: (token) => (token === 'hush' ? 'm1' : undefined),
    hinted: (server, hint) => {
      if (failing !== undefined) throw failing
      hints.push([server, hint])
    },
    failed: (error) => failures.push(error),
  })
  const post = async (path: string, body: string, method = 'POST') => {
    const init = method === 'GET' ? { method } : { method, body }
    const { status } = await receive(new Request(`https://game.example.com${path}`, init))
    return status
  }
  return { hints, failures, post }
}
const ready = JSON.stringify({ request_id: 'r1', current_status: 'Status.READY' })

test('the webhook URL of a server has its own token as the last part of the path', () => {
  expect(webhookUrlOf('https://game.example.com/hooks/', 'hush')).toBe('https://game.example.com/hooks/hush')
})

test.each([
  [ready, { handle: 'r1', isReady: true }],
  ['{"request_id":"r1"}', { handle: 'r1', isReady: false }],
  ['{}', undefined],
  ['not JSON', undefined],
  ['', undefined],
])('a webhook call with the body %j is accepted as a hint about the match of its path', async (body, hint) => {
  const { hints, post } = setUp()
  expect(await post('/any/where/hush', body)).toBe(204)
  expect(hints).toEqual([['m1', hint]])
})

test.each([
  ['a wrong token', '/hooks/hash', ready, 'POST', 404],
  ['no token', '/hooks/', ready, 'POST', 404],
  ['another method', '/hooks/hush', ready, 'GET', 405],
  ['more than 64 KiB', '/hooks/hush', ' '.repeat(64 * 1024 + 1), 'POST', 413],
])('a webhook call is refused: %s', async (_, path, body, method, status) => {
  const { hints, post } = setUp()
  expect(await post(path, body, method)).toBe(status)
  expect(hints).toEqual([])
})

test('a webhook call that fails inside Muster is answered 500, and its cause is reported', async () => {
  const cause = new Error('broken')
  const { failures, post } = setUp(cause)
  expect(await post('/hooks/hush', ready)).toBe(500)
  expect(failures).toEqual([cause])
})
