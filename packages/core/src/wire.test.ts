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
    [api.deployments.get, 'request_id', { place: 'path', name: 'request_id' }],
    [api.fleets.list, 'page', { place: 'query', name: 'page' }],
    [api.deployments.create, 'tags', { place: 'body', name: 'tags' }],
    [api.deployments.stop, 'container_log_storage', { place: 'query', name: 'log-storage' }],
    [api.deployments.selfStop, 'authorization', { place: 'header', name: 'authorization' }],
    [api.deployments.list, 'query', { place: 'query', name: 'q' }],
    [api.locations.list, 'type', { place: 'query', name: 'kind' }],
    [api.locations.list, 'tags', { place: 'query', name: 'with-tags' }],
  ])('wireName gives the place and name of a key in the request: case %#, %j', (operation, key, expected) =>
    expect(wireName(operation, key, settings)).toEqual(expected),
  )
})

test('every open point of the API description is a setting', () => {
  const open = operations.flatMap(([, operation]) => Object.values(operation.open))
  expect(open.length).toBeGreaterThan(0)
  expect(open.filter((name) => !(name in defaultSettings))).toEqual([])
})
