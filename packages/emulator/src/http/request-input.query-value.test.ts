import { api } from '@muster/core/api'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { queryType, queryValue } from './request-input.js'

const typeOf = (input: z.ZodType, key: string) => queryType(z.toJSONSchema(input, { io: 'input' }).properties?.[key])

test('the type of a query value is that of the API description', () => {
  expect(typeOf(api.fleets.list.input, 'page')).toBe('integer')
  expect(typeOf(api.locations.list.input, 'tags')).toBe('flag')
  expect(typeOf(api.locations.list.input, 'app')).toBe('text')
  expect(typeOf(api.deployments.list.input, 'query')).toBe('json')
  expect(typeOf(api.deployments.stop.input, 'container_log_storage')).toBe('flag or text')
  expect(queryType({ type: 'number' })).toBe('number')
  expect(queryType(undefined)).toBe('text')
})

test.each([
  ['integer', '3', 3],
  ['integer', '-3', -3],
  ['number', '0.25', 0.25],
  ['flag', 'true', true],
  ['flag', 'false', false],
  ['flag or text', 'true', true],
  ['flag or text', 'my logs', 'my logs'],
  ['json', '{"filters":[]}', { filters: [] }],
  ['text', '3', '3'],
] as const)('the query value of type %s from %j is %j', (type, text, value) => {
  expect(queryValue(type, text)).toEqual({ value })
})

test.each([
  ['integer', ''],
  ['integer', '1.5'],
  ['integer', '1e3'],
  ['integer', '0x10'],
  ['integer', ' 1'],
  ['number', 'NaN'],
  ['number', '1.'],
  ['flag', 'True'],
  ['flag', ''],
] as const)('a query value of type %s cannot be %j', (type, text) => {
  expect(queryValue(type, text)).toEqual({ problem: expect.stringContaining(`got ${JSON.stringify(text)}`) })
})

test('the problem of a query value that is not JSON does not show the value', () => {
  expect(queryValue('json', '{"a":')).toEqual({ problem: 'must be JSON' })
})
