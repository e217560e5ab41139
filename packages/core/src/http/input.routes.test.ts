import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { operation } from '../operation.js'
import { createMatcher } from './input.js'

const thing = z.strictObject({ id: z.string() })
const routes = {
  list: operation('GET /things', { summary: '', input: z.strictObject({}), errors: [] }),
  read: operation('GET /things/{id}', { summary: '', input: thing, errors: [] }),
  remove: operation('DELETE /things/{id}', { summary: '', input: thing, errors: [] }),
  newest: operation('GET /things/newest', { summary: '', input: z.strictObject({}), errors: [] }),
}
const match = createMatcher(routes)
const problem = (find: () => unknown) => {
  try {
    return find()
  } catch (error) {
    return error
  }
}

test('method and path select the operation, with literal segments before placeholders', () => {
  expect(match('GET', '/things')).toMatchObject({ name: 'list', path: {} })
  expect(match('GET', '/things/a')).toMatchObject({ name: 'read', path: { id: 'a' } })
  expect(match('GET', '/things/newest')).toMatchObject({ name: 'newest' })
  expect(match('DELETE', '/things/newest')).toMatchObject({ name: 'remove', path: { id: 'newest' } })
})

test.each(['/', '/thing', '/things/', '/things/a/b', '//things', '/things//'])(
  'the path %s matches no route',
  (path) => {
    expect(problem(() => match('GET', path))).toMatchObject({ status: 404 })
  },
)

test('a method without a route is refused with the allowed methods', () => {
  expect(problem(() => match('POST', '/things/a'))).toMatchObject({
    status: 405,
    options: { headers: { allow: 'GET, DELETE' } },
  })
})

test('an encoded slash in a request path stays within its path segment', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'binary' }), (id) => {
      fc.pre(!/\p{Surrogate}/u.test(id))
      const { pathname } = new URL(`http://localhost/things/${encodeURIComponent(id)}`)
      fc.pre(pathname.startsWith('/things/') && pathname !== '/things/' && pathname !== '/things/newest')
      expect(match('GET', pathname)).toMatchObject({ name: 'read', path: { id } })
    }),
    { numRuns: 300 },
  )
  expect(problem(() => match('GET', '/things/%E0%A4%A'))).toMatchObject({ status: 400 })
})

test('only request paths below the base path match a route', () => {
  const under = createMatcher(routes, '/api')
  expect(under('GET', '/api/things')).toMatchObject({ name: 'list' })
  for (const path of ['/things', '/apithings', '/api'])
    expect(problem(() => under('GET', path))).toMatchObject({ status: 404 })
})

test.each(['/', '/api/', 'api', '/a//b'])('the base path %j, which no request could match, is refused', (basePath) => {
  expect(() => createMatcher(routes, basePath)).toThrow(
    `option basePath must be empty or like /lobby-api, got "${basePath}"`,
  )
})
