import { inspect } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lightResponses, partsOf } from './light-response.js'

const Full = globalThis.Response
lightResponses()

const seen = async (make: () => Response): Promise<unknown> => {
  try {
    const response = make()
    const { status, ok, statusText, type, redirected, url, bodyUsed, headers } = response
    const body = await response.text()
    return { status, ok, statusText, type, redirected, url, bodyUsed, headers: [...headers], body }
  } catch (error) {
    return (error as Error).name
  }
}

const bodies = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array(), fc.constantFrom(null, undefined, 5 as never))
const statuses = fc.oneof(
  fc.integer({ min: 190, max: 610 }),
  fc.constantFrom(200, 204, 205, 304, 200.5, '201' as never),
)
const names = fc.constantFrom('x-a', 'X-A', 'Content-Type', 'content-length', 'set-cookie', 'a b', '')
const values = fc.oneof(fc.string(), fc.constantFrom(' a ', 'a b', 'ü', '€', '', 5 as never))
const headers = fc.oneof(
  fc.dictionary(names, values),
  fc.array(fc.tuple(names, values), { maxLength: 3 }),
  fc.constant(undefined),
)
const inits = fc.option(
  fc.record({ status: statuses, headers, statusText: fc.constantFrom('Fine', '', undefined) }, { requiredKeys: [] }),
  { nil: undefined },
)

test('a light Response is what a full one is, errors included', async () => {
  await fc.assert(
    fc.asyncProperty(bodies, inits as fc.Arbitrary<ResponseInit | undefined>, async (body, init) => {
      expect(await seen(() => new Response(body, init))).toEqual(await seen(() => new Full(body, init)))
      expect(await seen(() => Response.json(body, init))).toEqual(await seen(() => Full.json(body, init)))
    }),
  )
})

test('answers of text, bytes and JSON are light until more of them is asked for', () => {
  const made = [
    new Response('a'),
    new Response(new Uint8Array(2), { status: 404, headers: { 'x-a': 'b' } }),
    Response.json({ a: 1 }, { status: 201 }),
  ]
  expect(made.map((response) => partsOf(response)?.status)).toEqual([200, 404, 201])
  for (const response of made) response.headers.set('x-b', '1')
  expect(made.map(partsOf)).toEqual([undefined, undefined, undefined])
  expect(made.map(({ headers: { get } }) => typeof get)).toEqual(['function', 'function', 'function'])
})

test('each is an instance of both classes, and subclasses are as before', async () => {
  class Mine extends Response {
    readonly mine = true
  }
  for (const response of [new Response('a'), new Full('a'), new Mine('a'), Response.json(1)]) {
    expect([response instanceof Response, response instanceof Full]).toEqual([true, true])
    expect(Object.prototype.toString.call(response)).toBe('[object Response]')
  }
  expect([new Mine('a') instanceof Mine, new Mine('a').mine, await new Mine('a').text()]).toEqual([true, true, 'a'])
  expect(Response.redirect('http://localhost/a').status).toBe(302)
  expect(inspect(new Response('a'))).toMatch(/^Response \{/)
  expect(() => (Response as unknown as () => unknown)()).toThrow(TypeError)
})

test('bytes changed after the call are not sent', async () => {
  const bytes = new TextEncoder().encode('a')
  const response = new Response(bytes)
  bytes[0] = 0
  expect(await response.text()).toBe('a')
})
