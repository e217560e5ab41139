import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDeploymentWebhook, parseRelayWebhook, type WebhookBody } from './webhooks.js'

const view = { request_id: 'abc', current_status: 'Status.READY', fqdn: 'abc.example', ports: {} }

describe('a deployment webhook', () => {
  test.each([
    ['text', JSON.stringify(view)],
    ['bytes', new TextEncoder().encode(JSON.stringify(view))],
    ['text with a byte order mark', `\u{feff}${JSON.stringify(view)}`],
    ['an object that a framework parsed', view],
  ])('a deployment webhook can be parsed from %s', (_, body) => {
    expect(parseDeploymentWebhook(body)).toEqual({ request_id: 'abc', current_status: 'Status.READY' })
  })

  test('a deployment webhook needs only a request_id', () => {
    expect(parseDeploymentWebhook({ request_id: 'abc' })).toEqual({ request_id: 'abc', current_status: undefined })
    expect(parseDeploymentWebhook({ request_id: 'abc', current_status: 7 })).toEqual({
      request_id: 'abc',
      current_status: undefined,
    })
  })
})

test('a relay webhook has the id of its session and whether it is ready', () => {
  const session = { session_id: 's', ready: true, authorization_token: 3_500_589_645, session_users: [] }
  expect(parseRelayWebhook(JSON.stringify(session))).toEqual({ session_id: 's', ready: true })
  expect(parseRelayWebhook({ session_id: 's', ready: null })).toEqual({ session_id: 's', ready: undefined })
})

describe('a webhook with a wrong body', () => {
  test.each([
    ['not json', 'deployment webhook: the body is not JSON', 'body'],
    ['', 'deployment webhook: the body is not JSON', 'body'],
    ['[]', 'deployment webhook: the body is not a JSON object', 'body'],
    ['null', 'deployment webhook: the body is not a JSON object', 'body'],
    ['{}', 'deployment webhook: the body has no request_id', 'request_id'],
    ['{"request_id":""}', 'deployment webhook: the body has no request_id', 'request_id'],
    ['{"request_id":7}', 'deployment webhook: the body has no request_id', 'request_id'],
  ])('a webhook body is refused with the reason: %j', (body, message, field) => {
    expect(() => parseDeploymentWebhook(body)).toThrow(
      expect.objectContaining({ name: 'InvalidInput', message, field }),
    )
  })

  test('a webhook body larger than maxBytes is refused', () => {
    expect(() => parseDeploymentWebhook('é'.repeat(600), { maxBytes: 1000 })).toThrow('larger than 1000 bytes')
    expect(() => parseRelayWebhook(new Uint8Array(2 ** 20 + 1))).toThrow('larger than 1048576 bytes')
  })

  test.each([0, -1, 0.5, NaN, Infinity, '64'])('a webhook parser refuses maxBytes %j', (maxBytes) => {
    const message = `deployment webhook: option maxBytes must be a whole number of bytes above 0, got ${maxBytes}`
    const refusal = expect.objectContaining({ name: 'InvalidInput', message, field: 'maxBytes' })
    expect(() => parseDeploymentWebhook('{"request_id":"abc"}', { maxBytes: maxBytes as number })).toThrow(refusal)
  })

  test('the error of a wrong webhook body does not show the body', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.uint8Array(), fc.json(), fc.dictionary(fc.string(), fc.jsonValue())),
        (body) => {
          try {
            expect(parseDeploymentWebhook(body as WebhookBody).request_id).not.toBe('')
          } catch (error) {
            expect(error).toMatchObject({
              name: 'InvalidInput',
              message: expect.stringMatching(/^deployment webhook: the body (is not|has no)/),
            })
          }
        },
      ),
    )
  })
})
