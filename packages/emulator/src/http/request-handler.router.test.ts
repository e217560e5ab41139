import { defaultSettings, operations } from '@muster/core/api'
import { expect, test } from 'vitest'
import { createRouter } from './request-handler.js'

const router = createRouter(defaultSettings)

test('every operation of the API description is found by its own method and path', () => {
  for (const [id, operation] of operations) {
    const path = operation.path.replaceAll(/\{\w+\}/g, (key) => `some-${key.slice(1, -1)}`)
    expect(router.match(operation.method, path)).toMatchObject({
      kind: 'route',
      value: { id },
      segments: operation.pathKeys.map((key) => `some-${key}`),
    })
  }
})

test('path segments stay encoded, so an encoded slash does not end a segment', () => {
  expect(router.match('GET', '/v1/app/my%2Fapp%3F/versions')).toMatchObject({
    value: { id: 'versions.list' },
    segments: ['my%2Fapp%3F'],
  })
})

test('a literal path segment takes precedence over a placeholder, unless it leads to no route', () => {
  expect(router.match('POST', '/v1/deployments/bulk-stop')).toMatchObject({ value: { id: 'deployments.bulkStop' } })
  expect(router.match('GET', '/v1/deployments/bulk-stop/tags')).toMatchObject({
    value: { id: 'tags.list' },
    segments: ['bulk-stop'],
  })
  expect(router.match('POST', '/v1/relays/sessions:authorize-user')).toMatchObject({
    value: { id: 'relays.authorizeUser' },
  })
})

test.each([
  '',
  '/',
  '/v1',
  '/v1/app/',
  '/v1/app//versions',
  '/v1/apps/',
  '/v2/deployments',
  '/V1/apps',
  '/v1/relays/sessions:other',
])('the path %j matches no route', (path) => {
  expect(router.match('GET', path)).toEqual({ kind: 'unknown path' })
})

test('a known path with another method gives the allowed methods', () => {
  expect(router.match('POST', '/v1/app/x')).toEqual({ kind: 'unknown method', allow: ['DELETE', 'GET', 'PATCH'] })
  expect(router.match('GET', '/v1/deployments/bulk-stop')).toEqual({ kind: 'unknown method', allow: ['POST'] })
})

test('a path that the API document leaves open is taken from the settings', () => {
  const other = createRouter({ ...defaultSettings, createDeploymentPath: '/v2/deployments' })
  expect(other.match('POST', '/v2/deployments')).toMatchObject({ value: { id: 'deployments.create' } })
  expect(other.match('POST', '/deployments')).toEqual({ kind: 'unknown path' })
})
