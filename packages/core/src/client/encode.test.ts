import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { api } from '../api/api.js'
import { defaultSettings } from '../api/settings.js'
import { operation } from '../operation.js'
import { createEncoder, encodeSegment } from './request.js'
import { InvalidInput } from './errors.js'

const encode = (op: Parameters<typeof createEncoder>[1], input: Record<string, unknown>, prefix = '') =>
  createEncoder('fleets.get', op, defaultSettings, prefix)(input)

describe('encoded paths', () => {
  // Any string, and strings of characters with a meaning in paths, URLs and encodings.
  const nasty = fc.string({
    unit: fc.constantFrom(
      '.',
      '/',
      '\\',
      '?',
      '#',
      '%',
      '%2e',
      '%2E',
      '%2f',
      '%00',
      '\0',
      ';',
      ':',
      '@',
      '&',
      '+',
      ' ',
      'é',
      '🎮',
      '\r\n',
    ),
    maxLength: 6,
  })
  const name = fc.oneof(fc.string({ unit: 'binary' }), nasty).filter((text) => !['', '.', '..'].includes(text))

  test('a name encoded in a path decodes to itself and stays in its segment', () => {
    fc.assert(
      fc.property(name, name, (app_name, version_name) => {
        const { path } = encode(api.versions.get, { app_name, version_name })
        expect(path).toMatch(/^[\x21-\x7e]+$/)
        // Parses the path like a server, which also resolves dots.
        const { pathname, search, hash } = new URL(path, 'http://service.example')
        expect(pathname).toBe(path)
        expect([search, hash]).toEqual(['', ''])
        const segments = pathname.split('/')
        expect(segments).toHaveLength(6)
        expect([segments[1], segments[2], segments[4]]).toEqual(['v1', 'app', 'version'])
        expect(decodeURIComponent(segments[3] ?? '')).toBe(app_name)
        expect(decodeURIComponent(segments[5] ?? '')).toBe(version_name)
      }),
      { numRuns: 500 },
    )
  })

  test.each(['', '.', '..'])('a path segment cannot be %j, which is refused naming the key', (text) => {
    expect(() => encodeSegment('fleets.get', 'fleet_name', text)).toThrow(
      expect.objectContaining({ name: 'InvalidInput', field: 'fleet_name' }),
    )
  })

  test.each(['\ud800', 'a\udc00b'])(
    'a path segment cannot contain a lone surrogate, which is refused naming the key',
    (text) => {
      expect(() => encode(api.fleets.get, { fleet_name: text })).toThrow(InvalidInput)
      expect(() => encode(api.fleets.get, { fleet_name: text })).toThrow(/fleet_name/)
    },
  )

  test('encoded paths begin with the path of the base URL', () => {
    expect(encode(api.fleets.get, { fleet_name: 'a b' }, '/api').path).toBe('/api/v1/fleet/a%20b')
  })
})

describe('the encoded query', () => {
  test('the encoded query omits undefined, and writes booleans and numbers as text and other values as JSON', () => {
    const query = { filters: [{ field: 'tags', operator: 'in', value: ['a&b'] }] }
    expect(encode(api.deployments.list, { query, page: 2, limit: undefined }).path).toBe(
      `/v1/deployments?query=${encodeURIComponent(JSON.stringify(query))}&page=2`,
    )
    expect(encode(api.locations.list, { tags: true }).path).toBe('/v1/locations?tags=true')
    expect(encode(api.deployments.stop, { request_id: 'r', container_log_storage: false }).path).toBe(
      '/v1/stop/r?container_log_storage=false',
    )
    expect(encode(api.deployments.stop, { request_id: 'r', container_log_storage: 'logs/eu' }).path).toBe(
      '/v1/stop/r?container_log_storage=logs%2Feu',
    )
  })

  test('the encoded query can hold keys of an operation that also has a body', () => {
    const op = operation('POST /v1/thing', {
      summary: '',
      input: z.object({ dry: z.boolean(), name: z.string() }),
      query: ['dry'],
      errors: [],
    })
    expect(encode(op, { dry: true, name: 'x' })).toMatchObject({ path: '/v1/thing?dry=true', body: '{"name":"x"}' })
  })
})

describe('encoded headers', () => {
  test('encoded headers carry the keys that the operation declares as headers', () => {
    expect(encode(api.storages.list, { x_fields: 'endpoints{name}' }).headers).toEqual(['X-Fields', 'endpoints{name}'])
  })

  test.each(['a\r\nb: c', 'a\0', 'ł'])('an encoded header cannot contain %j, which is refused', (x_fields) => {
    expect(() => encode(api.storages.list, { x_fields })).toThrow(/x_fields/)
  })
})

describe('the encoded body', () => {
  test('the encoded body holds as JSON the keys that are neither in path, query nor headers', () => {
    const { body, headers, path } = encode(api.versions.update, {
      app_name: 'a',
      version_name: 'v',
      name: 'w',
      command: null,
      ports: undefined,
    })
    expect([path, body, headers]).toEqual([
      '/v1/app/a/version/v',
      '{"name":"w","command":null}',
      ['content-type', 'application/json'],
    ])
  })

  test('the encoded body is an empty object where the method has a body and no key remains', () => {
    expect(encode(api.fleets.update, { fleet_name: 'f' }).body).toBe('{}')
  })

  test('the encoded body is absent from GET, DELETE and a PUT whose path holds all keys', () => {
    expect(encode(api.fleets.get, { fleet_name: 'f' })).toEqual({ path: '/v1/fleet/f', headers: [], body: undefined })
    expect(encode(api.fleets.delete, { fleet_name: 'f' }).body).toBeUndefined()
    expect(encode(api.fleets.link, { fleet_name: 'f', app_name: 'a', version_name: 'v' }).body).toBeUndefined()
  })
})
