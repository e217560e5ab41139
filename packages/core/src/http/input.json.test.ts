import { expect, test } from 'vitest'
import { readBytes, readJson } from './body.fixture.js'

const post = (
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) => new Request('http://localhost/', { method: 'POST', body, headers, duplex: 'half' } as RequestInit)

/** Creates a body from pieces, without a content length. */
const inPieces = (...pieces: readonly string[]) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      controller.close()
    },
  })

const problem = async (reading: Promise<unknown>) => {
  const error: unknown = await reading.then(
    () => 'no problem',
    (reason: unknown) => reason,
  )
  return typeof error === 'object'
    ? (({ status, code }) => ({ status, code }))(error as { status: number; code: string })
    : error
}

test('a JSON request body is read, even in pieces and with a charset', async () => {
  expect(await readJson(post('{"a":[1,"ü"]}'), 100)).toEqual({ a: [1, 'ü'] })
  expect(await readJson(post(inPieces('{"a"', ':1}')), 100)).toEqual({ a: 1 })
  expect(await readJson(post('1', { 'content-type': 'application/merge-patch+json; charset=utf-8' }), 100)).toBe(1)
})

test('a missing request body is undefined for any content type', async () => {
  expect(await readJson(new Request('http://localhost/', { method: 'POST' }), 100)).toBeUndefined()
  expect(await readJson(post('', { 'content-type': 'text/plain' }), 100)).toBeUndefined()
})

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
  'a request body of type %j, which pages of any site can send, is refused',
  async (type) => {
    expect(await problem(readJson(post('{}', { 'content-type': type }), 100))).toEqual({
      status: 415,
      code: 'unsupported-media-type',
    })
  },
)

test('a request body is read no further than allowed, regardless of the length it announces', async () => {
  expect(await readJson(post(`"${'x'.repeat(98)}"`), 100)).toHaveLength(98)
  const tooLarge = { status: 413, code: 'body-too-large' }
  expect(await problem(readJson(post(`"${'x'.repeat(99)}"`), 100))).toEqual(tooLarge)
  expect(
    await problem(readJson(post('{}', { 'content-type': 'application/json', 'content-length': '101' }), 100)),
  ).toEqual(tooLarge)
  let taken = 0
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      taken += 10
      controller.enqueue(new Uint8Array(10))
    },
  })
  expect(await problem(Promise.resolve(readBytes(post(endless), 100)))).toEqual(tooLarge)
  expect(taken).toBeLessThan(200)
})

test.each([
  ['not JSON', '{"a":'],
  ['a lone byte', Uint8Array.of(0x22, 0xff, 0x22)],
])('a request body that is %s is refused, and is not shown', async (_, body) => {
  expect(await problem(readJson(post(body), 100))).toEqual({ status: 400, code: 'body-not-json' })
})

test('an incomplete request body is refused', async () => {
  const broken = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error('reset')) })
  expect(await problem(readJson(post(broken), 100))).toEqual({ status: 400, code: 'body-broken' })
})

test('JSON with keys that change prototypes, or so deep that it exhausts the stack, is refused', async () => {
  const evil = '{"a":[{"__proto__":{"isAdmin":true}}]}'
  expect(await problem(readJson(post(evil), 1000))).toEqual({ status: 400, code: 'invalid-input' })
  expect(await problem(readJson(post('{"\\u005f_proto__":1}'), 1000))).toEqual({ status: 400, code: 'invalid-input' })
  expect(await problem(readJson(post('['.repeat(33) + ']'.repeat(33)), 1000))).toEqual({
    status: 400,
    code: 'body-too-deep',
  })
  expect(await readJson(post('['.repeat(32) + ']'.repeat(32)), 1000)).toBeDefined()
})

test('a request body whose strings or keys have half of a surrogate pair is refused', async () => {
  const refused = { status: 400, code: 'invalid-input' }
  for (const body of ['"\\ud800"', '{"a":["\\udfff"]}', '{"\\uD83Dx":1}', '[{"a":"\\ude00\\ud83d"}]'])
    expect(await problem(readJson(post(body), 100))).toEqual(refused)
  expect(await readJson(post('{"a":"\\ud83d\\ude00","b":"\\\\ud800"}'), 100)).toEqual({ a: '😀', b: '\\ud800' })
})

test('the position of a fault in a long request body is not searched', async () => {
  const text = async (body: string) => {
    const error: unknown = await readJson(post(body), 100_000).catch((reason: unknown) => reason)
    return (error as Error).message
  }
  expect(await text(`[${'1,'.repeat(4000)}`)).toBe(
    'The body is not JSON in UTF-8: line 1, column 8002: ends too early.',
  )
  expect(await text(`[${'1,'.repeat(5000)}`)).toBe('The body is not JSON in UTF-8.')
})

test('a request body has at most 2,000 keys in one object', async () => {
  const withKeys = (count: number) =>
    post(JSON.stringify([Object.fromEntries(Array.from({ length: count }, (_, key) => [`k${key}`, 1]))]))
  expect(await readJson(withKeys(2000), 100_000)).toHaveLength(1)
  expect(await problem(readJson(withKeys(2001), 100_000))).toEqual({ status: 400, code: 'invalid-input' })
})
