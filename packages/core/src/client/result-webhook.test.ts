import { expect, test } from 'vitest'
import { parseResultWebhook, webhookSignature } from './webhooks.js'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const NOW = Date.parse('2026-11-26T12:00:00Z')
const origin = { source: 'enrolled', enrolment_key: '73dc7b7a' }
const data = { player_ids: ['ann'], ...origin }
const result = { type: 'match.over', id: 'msg_1', timestamp: '2026-11-26T12:00:00.000Z', data }

function delivery({ body = JSON.stringify(result), seconds = String(NOW / 1000), by = secret, more = '' } = {}) {
  const signature = more + webhookSignature(by, { id: 'msg_1', seconds, body })
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': seconds, 'webhook-signature': signature }
  return { headers, body }
}

test('a result webhook signed by Muster is read, with headers of fetch or Node.js, as text or bytes', () => {
  const { headers, body } = delivery({ more: 'v1a,other v1,AAAA ' })
  const read = parseResultWebhook(secret, headers, body, NOW)
  expect(read).toEqual(result)
  expect([read.data.source, read.data.enrolment_key]).toEqual(['enrolled', '73dc7b7a'])
  expect(parseResultWebhook(secret, new Headers(headers), new TextEncoder().encode(body), NOW + 299_000)).toEqual(
    result,
  )
})

const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
test.each<[string, string, { headers: Record<string, string | undefined>; body: string }, string?]>([
  ['signed with another secret', 'webhook-signature', delivery({ by: other })],
  ['changed after signing', 'webhook-signature', { ...delivery(), body: JSON.stringify({ ...result, id: 'msg_2' }) }],
  ['that is five minutes old', 'webhook-timestamp', delivery({ seconds: String(NOW / 1000 - 301) })],
  ['without a valid timestamp', 'webhook-timestamp', delivery({ seconds: 'soon' })],
  [
    'without a signature',
    'webhook-signature',
    { ...delivery(), headers: { ...delivery().headers, 'webhook-signature': '' } },
  ],
  ['without an id', 'webhook-id', { ...delivery(), headers: { ...delivery().headers, 'webhook-id': undefined } }],
  ['of another type', 'type', delivery({ body: '{"type":"other"}' })],
  ['checked without a valid secret', 'secret', delivery(), 'hunter2'],
])(
  'a result webhook %s is refused with an error that names %s and no secret',
  (_, field, { headers, body }, by = secret) => {
    const parse = () => parseResultWebhook(by, headers, body, NOW)
    expect(parse).toThrow(expect.objectContaining({ name: 'InvalidInput', field }))
    expect(parse).not.toThrow(by)
  },
)

test('the published example of Standard Webhooks gets its published signature', () => {
  const delivery = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', seconds: '1614265330', body: '{"test": 2432232314}' }
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  expect(webhookSignature('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', delivery)).toBe(signature)
})
