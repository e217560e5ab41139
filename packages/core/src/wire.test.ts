import { describe, expect, test } from 'vitest'
import { api, operations } from './api/api.js'
import { defaultSettings, settingsWith } from './api/settings.js'
import { pathOf, wireName } from './wire.js'

const settings = settingsWith({
  createDeploymentPath: '/v2/deployments',
  containerLogStorageParameter: 'log-storage',
  deploymentQueryParameter: 'q',
  locationTypeParameter: 'kind',
  locationTagsParameter: 'with-tags',
})

describe('pathOf', () => {
  test('pathOf returns the path of the route', () =>
    expect(pathOf(api.deployments.get, settings)).toBe('/v1/status/{request_id}'))

  test('pathOf returns the path of a setting where the specification leaves the path open', () => {
    expect(pathOf(api.deployments.create, defaultSettings)).toBe('/deployments')
    expect(pathOf(api.deployments.create, settings)).toBe('/v2/deployments')
  })
})

describe('the wire name of a key', () => {
  test.each([
    ['request_id', api.deployments.get, { place: 'path', name: 'request_id' }],
    ['page', api.fleets.list, { place: 'query', name: 'page' }],
    ['tags', api.deployments.create, { place: 'body', name: 'tags' }],
    ['container_log_storage', api.deployments.stop, { place: 'query', name: 'log-storage' }],
    ['authorization', api.deployments.selfStop, { place: 'header', name: 'authorization' }],
    ['query', api.deployments.list, { place: 'query', name: 'q' }],
    ['type', api.locations.list, { place: 'query', name: 'kind' }],
    ['tags', api.locations.list, { place: 'query', name: 'with-tags' }],
  ])('wireName returns where a request carries the key %s and under which name', (key, operation, expected) =>
    expect(wireName(operation, key, settings)).toEqual(expected),
  )
})

test('every point that the API description leaves open has a setting', () => {
  const open = operations.flatMap(([, operation]) => Object.values(operation.open))
  expect(open.length).toBeGreaterThan(0)
  expect(open.filter((name) => !(name in defaultSettings))).toEqual([])
})
