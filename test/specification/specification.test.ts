import { defaultSettings, operations, type Operation } from '@muster/core/api'
import { expect, test } from 'vitest'
import { beyondDocument, rows, type Row } from './rows.js'
import { jsonSchema, mismatches } from './shapes.js'
import { groupSizes, rateLimits } from './tables.js'

const routeOf = ({ method, path }: Operation) => `${method} ${path}`
const described = new Map(operations.map(([, operation]) => [routeOf(operation), operation]))
const pathKeys = ({ route }: Row) => Array.from(route.matchAll(/\{(\w+)\}/g), ([, key]) => key as string)
const sorted = (values: Iterable<string>) => [...values].toSorted()

function operationOf({ route }: Row): Operation {
  const operation = described.get(route)
  if (operation === undefined) throw new Error(`${route} is not described`)
  return operation
}

test('the tables of the specification have 58 rows, with as many per group as the document', () => {
  expect(rows).toHaveLength(58)
  expect(Object.values(groupSizes)).toEqual([10, 2, 12, 2, 8, 1, 12, 5, 6])
  for (const [group, size] of Object.entries(groupSizes))
    expect(
      rows.filter((row) => row.group === group),
      group,
    ).toHaveLength(size)
})

test('the API description has the same 58 routes as the tables, each once', () => {
  expect(operations).toHaveLength(58)
  expect(new Set(operations.map(([id]) => id)).size).toBe(58)
  expect(sorted(described.keys())).toEqual(sorted(rows.map(({ route }) => route)))
})

test('the API description has exactly the documented rate limits', () => {
  const limited = operations.filter(([, { limit }]) => limit !== undefined)
  expect(Object.fromEntries(limited.map(([, operation]) => [routeOf(operation), operation.limit?.limit]))).toEqual(
    rateLimits,
  )
  for (const [, { limit }] of operations) expect([undefined, 1000]).toContain(limit?.windowMs)
})

test.each(rows.map((row) => [row.route, row] as const))(
  'the API description of %s agrees with the tables of the specification',
  (_, row) => {
    const operation = operationOf(row)
    const input = jsonSchema(operation.input)
    const path = pathKeys(row)
    const beyond = beyondDocument[row.route] ?? []
    const undocumented = (found: readonly string[]) =>
      found.filter((one) => !beyond.some((key) => one.endsWith(`.${key}: is not in the document`)))

    expect(sorted(operation.errors.map(String)), 'errors').toEqual(sorted(row.errors.map(String)))
    expect(operation.success, 'success').toEqual(row.success)

    // Keys of path, query, headers and body must differ, because an input is one object.
    expect(
      Object.keys(row.request).filter((key) => path.includes(key)),
      'collisions',
    ).toEqual([])
    expect(operation.pathKeys, 'path').toEqual(path)
    const documented = Object.keys(input.properties ?? {}).filter((key) => key in row.request || !beyond.includes(key))
    expect(sorted(documented), 'input keys').toEqual(sorted([...path, ...Object.keys(row.request)]))
    expect(sorted(input.required ?? []), 'required keys').toEqual(sorted([...path, ...row.required]))
    expect(input.additionalProperties, 'other keys').toBe(false)
    const shape = { ...Object.fromEntries(path.map((key) => [key, 'string'] as const)), ...row.request }
    expect(undocumented(mismatches(input, shape))).toEqual([])

    expect(operation.output === undefined, 'no content').toBe(row.response === undefined)
    if (operation.output !== undefined && row.response !== undefined) {
      expect(undocumented(mismatches(jsonSchema(operation.output), row.response)), 'answer').toEqual([])
    }
  },
)

const isUsed = ([, names]: readonly [string, object]) => Object.keys(names).length > 0

test('headers and open names in the API description equal those in the tables of the specification', () => {
  const headers = operations.map(([id, operation]) => [id, operation.headers] as const)
  expect(Object.fromEntries(headers.filter(isUsed))).toEqual({
    'storages.list': { x_fields: 'X-Fields' },
    'policies.list': { x_fields: 'X-Fields' },
    'deployments.selfStop': { authorization: 'authorization' },
  })
  const open = operations.map(([id, operation]) => [id, operation.open] as const).filter(isUsed)
  expect(Object.fromEntries(open)).toEqual({
    'locations.list': { type: 'locationTypeParameter', tags: 'locationTagsParameter' },
    'deployments.create': { path: 'createDeploymentPath' },
    'deployments.stop': { container_log_storage: 'containerLogStorageParameter' },
    'deployments.selfStop': { container_log_storage: 'containerLogStorageParameter' },
    'deployments.list': { query: 'deploymentQueryParameter' },
  })
  for (const name of open.flatMap(([, names]) => Object.values(names))) expect(defaultSettings).toHaveProperty(name)
})

test('only self-stop is authorized by a delete token', () => {
  expect(operations.filter(([, { auth }]) => auth === 'delete-token').map(([id]) => id)).toEqual([
    'deployments.selfStop',
  ])
})

test('each paged list names the field of its items', () => {
  for (const [id, operation] of operations) {
    const takesPage = 'page' in (jsonSchema(operation.input).properties ?? {})
    expect(operation.items !== undefined, id).toBe(takesPage)
    if (operation.items !== undefined && operation.output !== undefined) {
      expect(Object.keys(jsonSchema(operation.output).properties ?? {}), id).toContain(operation.items)
    }
  }
})
