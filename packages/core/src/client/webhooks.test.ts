import fc from 'fast-check'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { InvalidInput } from './errors.js'
import { parseDeploymentWebhook, parseRelayWebhook, type WebhookBody } from './webhooks.js'

const parsers = [
  { kind: 'deployment', parse: parseDeploymentWebhook, key: 'request_id' },
  { kind: 'relay', parse: parseRelayWebhook, key: 'session_id' },
] as const

/** What a parser throws. */
function failure(parse: () => unknown): unknown {
  try {
    return expect.unreachable(`it was read: ${inspect(parse())}`)
  } catch (error) {
    return error
  }
}

describe('what is read', () => {
  const view = { request_id: 'abc', current_status: 'Status.READY', public_ip: '192.0.2.7', ports: null, added_later: [1] }
  const text = JSON.stringify(view)

  test.each<[string, WebhookBody]>([
    ['text', text],
    ['a Buffer', Buffer.from(text)],
    ['bytes', new TextEncoder().encode(text)],
    ['part of a larger buffer', new TextEncoder().encode(`##${text}##`).subarray(2, -2)],
    ['an object', view],
    ['bytes with a byte order mark', Buffer.from(`\u{feff}${text}`)],
  ])('%s', (_, body) => {
    expect(parseDeploymentWebhook(body)).toEqual({ request_id: 'abc', current_status: 'Status.READY' })
  })

  test('of a status only the text', () => {
    expect(parseDeploymentWebhook({ request_id: 'abc' })).toEqual({ request_id: 'abc', current_status: undefined })
    for (const current_status of [null, 7, {}, ['Status.READY']]) {
      expect(parseDeploymentWebhook({ request_id: 'abc', current_status }).current_status).toBeUndefined()
    }
    expect(parseDeploymentWebhook({ request_id: 'abc', current_status: 'Status.NEW' }).current_status).toBe('Status.NEW')
  })

  test('of a relay session its id, and whether it is ready', () => {
    expect(parseRelayWebhook('{"session_id":"s","ready":true,"relay":{"ip":"192.0.2.7"}}')).toEqual({ session_id: 's', ready: true })
    expect(parseRelayWebhook({ session_id: 's', ready: false })).toEqual({ session_id: 's', ready: false })
    for (const ready of [undefined, null, 'true', 1]) expect(parseRelayWebhook({ session_id: 's', ready }).ready).toBeUndefined()
  })
})

describe.each(parsers)('what is refused of a $kind', ({ kind, parse, key }) => {
  const read = (body: unknown) => () => parse(body as WebhookBody)

  test.each([
    ['no id', {}],
    ['the other id', { [key === 'request_id' ? 'session_id' : 'request_id']: 'abc' }],
    ['an empty id', { [key]: '' }],
    ['a number', { [key]: 7 }],
    ['an object', { [key]: { $ne: '' } }],
    ['a list', { [key]: ['abc'] }],
    ['null', { [key]: null }],
    ['an inherited id', `{"__proto__":{"${key}":"abc"}}`],
  ])('%s', (_, body) => {
    expect(failure(read(body))).toMatchObject({ name: 'InvalidInput', field: key, message: `${kind} webhook: the body has no ${key}` })
  })

  test.each([
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"abc"'],
    ['a number', '7'],
    ['no body', undefined],
    ['a null', null],
    ['an array', []],
    ['markup', '<html>hush</html>'],
    ['half of it', `{"${key}":"hush`],
    ['a form', `${key}=hush`],
    ['bytes that are no text', new Uint8Array([0xff, 0xfe, 0])],
    ['depth', '['.repeat(100_000)],
  ])('%s', (_, body) => {
    const error = failure(read(body))
    expect(error).toBeInstanceOf(InvalidInput)
    expect(error).toHaveProperty('field', 'body')
    expect(inspect(error)).not.toContain('hush')
  })

  test('more than the limit, counted in bytes', () => {
    const body = JSON.stringify({ [key]: 'ä' })
    const maxBytes = Buffer.byteLength(body)
    expect(parse(body, { maxBytes })).toHaveProperty(key, 'ä')
    for (const large of [body, Buffer.from(body)]) {
      expect(failure(() => parse(large, { maxBytes: maxBytes - 1 }))).toMatchObject({
        name: 'InvalidInput', message: `${kind} webhook: the body is larger than ${maxBytes - 1} bytes`,
      })
    }
    expect(failure(read(JSON.stringify({ [key]: 'a', padding: ' '.repeat(2 ** 20) })))).toMatchObject({ message: expect.stringContaining('1048576') })
  })

  test('whatever comes: an id, or a clear error that does not repeat the body', () => {
    const mark = 'hush-4711'
    const json = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(key, 'current_status', 'ready', 'x'), fc.jsonValue()))
    const body = fc.oneof(
      json.map((value) => JSON.stringify([mark, value])),
      json.map((value) => JSON.stringify(value)),
      fc.string().map((text) => `${mark}${text}`),
      fc.uint8Array(),
      json,
    )
    fc.assert(
      fc.property(body, (any) => {
        try {
          const hint: object = read(any)()
          expect(Reflect.get(hint, key)).toMatch(/./su)
          expect(Object.keys(hint)).toHaveLength(2)
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidInput)
          expect(inspect(error)).not.toContain(mark)
        }
      }),
    )
  })
})
