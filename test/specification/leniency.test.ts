import { operations, type OperationId } from '@muster/core/api'
import { describe, expect, test } from 'vitest'
import { rows } from './rows.js'
import { ofAnotherType, pathsIn, sample, SOME_KEY, valueAt, withValueAt, type Path } from './samples.js'
import { resources, type Shape } from './tables.js'

/** The required fields of responses. All others may be missing, null or of another type. */
const necessary: Partial<Record<OperationId, readonly string[]>> = {
  'applications.create': ['name'],
  'applications.update': ['name'],
  'applications.get': ['name'],
  'applications.list': ['applications', 'applications.0', 'applications.0.name'],
  'versions.create': ['version', 'version.name'],
  'versions.get': ['name'],
  'versions.list': ['versions', 'versions.0', 'versions.0.name'],
  'registry.listTags': ['data', 'data.0', 'data.0.tag'],
  'storages.create': ['name'],
  'storages.get': ['name'],
  'pullProfiles.create': ['name'],
  'pullProfiles.get': ['name'],
  'pullProfiles.list': ['pull_profiles', 'pull_profiles.0', 'pull_profiles.0.name'],
  'locations.list': ['locations', 'locations.0'],
  'locations.beacons': ['locations', 'locations.0', 'locations.0.host', 'locations.0.location'],
  'deployments.create': ['request_id'],
  'deployments.get': ['request_id', 'current_status'],
  'deployments.bulkStop': ['processable', 'processable.0', 'processable.0.request_id'],
  'deployments.list': ['data', 'data.0', 'data.0.request_id'],
  'deployments.deployLegacy': ['request_id'],
  'fleets.create': ['name'],
  'fleets.get': ['name'],
  'fleets.list': ['fleets', 'fleets.0', 'fleets.0.name'],
  'policies.create': ['name'],
  'policies.get': ['name'],
  'tags.list': ['tags', 'tags.0', 'tags.0.name'],
  'tags.get': ['name'],
  'tags.create': ['name'],
  'tags.update': ['name'],
  'relays.create': ['session_id'],
  'relays.list': ['sessions', 'sessions.0', 'sessions.0.session_id'],
  'relays.get': ['session_id'],
  'relays.authorizeUser': ['session_id'],
  'relays.revokeUser': ['session_id'],
}

const answers = operations.flatMap(([id, operation]) => {
  const response = rows.find(({ route }) => route === `${operation.method} ${operation.path}`)?.response
  if (operation.output === undefined || response === undefined) return []
  return [{ id, output: operation.output, response, answer: sample(response) }]
})

describe.each(answers)('the response of $id', ({ id, output, answer }) => {
  const fits = (value: unknown) => output.safeParse(value).success
  const named = (path: Path) => path.join('.')

  test('a complete response is unchanged when parsed', () => {
    expect(output.parse(answer)).toEqual(answer)
  })

  test('a parsed response keeps unknown fields at any depth', () => {
    const objects = [[], ...pathsIn(answer)].filter((path) => {
      const value = valueAt(answer, path)
      // The keys of ports are names, so an unknown key there would have to be a valid port.
      return typeof value === 'object' && value !== null && !Array.isArray(value) && path.at(-1) !== 'ports'
    })
    for (const path of objects) {
      const more = withValueAt(answer, [...path, 'added_tomorrow'], { new: [1] })
      expect(output.parse(more), named(path)).toEqual(more)
    }
  })

  test('a parsed response needs only the required fields', () => {
    const refused = pathsIn(answer).filter((path) => !fits(withValueAt(answer, path, undefined)))
    expect(refused.map(named).toSorted()).toEqual([...(necessary[id] ?? [])].toSorted())
  })

  test('a parsed response may have null for an absent field', () => {
    for (const path of pathsIn(answer)) {
      const withNull = withValueAt(answer, path, null)
      if (necessary[id]?.includes(named(path)) === true) expect(fits(withNull), named(path)).toBe(false)
      else expect(fits(withNull), named(path)).toBe(true)
    }
  })

  test('an optional response field with a value of another type counts as absent', () => {
    for (const path of pathsIn(answer)) {
      const other = ofAnotherType(valueAt(answer, path))
      const wrong = withValueAt(answer, path, other)
      if (necessary[id]?.includes(named(path)) === true) {
        expect(fits(wrong), named(path)).toBe(false)
        continue
      }
      const read = output.parse(wrong)
      const whole = (length: number) => valueAtOrUndefined(read, path.slice(0, length))
      // If an entry of a list does not fit, the whole list counts as absent.
      const gone = path.findIndex((_, index) => whole(index + 1) === undefined)
      expect(gone !== -1 || named(path).startsWith('container_log_storage'), named(path)).toBe(true)
    }
  })
})

function valueAtOrUndefined(value: unknown, path: Path): unknown {
  const isContainer = (inner: unknown): inner is Record<string | number, unknown> =>
    typeof inner === 'object' && inner !== null
  return path.reduce<unknown>((inner, key) => (isContainer(inner) ? inner[key] : undefined), value)
}

/** Returns the paths of all primitive fields in a sample of the shape. */
function leaves(shape: Shape): (readonly [path: Path, shape: Shape])[] {
  if (typeof shape === 'string')
    return shape in resources ? leaves(resources[shape as keyof typeof resources]) : [[[], shape]]
  const entries: (readonly [string | number, Shape])[] = Array.isArray(shape)
    ? [[0, shape[0] as Shape]]
    : Object.entries(shape)
  return entries.flatMap(([key, inner]) => {
    const step = key === '*' ? SOME_KEY : key
    return leaves(inner).map(([path, leaf]) => [[step, ...path], leaf] as const)
  })
}

test('numeric response fields that the samples show as strings accept both forms', () => {
  const seen = new Set<string>()
  for (const { id, output, answer, response } of answers) {
    for (const [path] of leaves(response).filter(([, shape]) => shape === 'number or string')) {
      seen.add(String(path.at(-1)))
      for (const value of [3.5, '3.5']) {
        const given = withValueAt(answer, path, value)
        expect(output.parse(given), `${id}: ${path.join('.')}`).toEqual(given)
      }
    }
  }
  expect([...seen].toSorted()).toEqual(['latitude', 'longitude', 'sockets', 'sockets_usage', 'user_count'])
})

test('a response with an unknown value of an enumeration is accepted', () => {
  const unknown = [
    ['deployments.get', ['current_status'], 'Status.HIBERNATING'],
    ['deployments.get', ['last_status'], 'asleep'],
    ['deployments.get', ['sessions', 0, 'kind'], 'TOURNAMENT'],
    ['versions.get', ['ports', 0, 'protocol'], 'QUIC'],
    ['versions.get', ['session_config', 'kind'], 'Arena'],
    ['versions.get', ['kind'], 42],
    ['storages.get', ['container_log_version'], 'v3'],
    ['storages.get', ['output_format'], 'CSV'],
    ['pullProfiles.get', ['source_type'], 'Archive'],
    ['policies.get', ['type'], 'Moon'],
    ['relays.get', ['status'], 'Dreaming'],
    ['deployments.deployLegacy', ['ap_sort_strategy'], 'alphabetical'],
    ['deployments.deployLegacy', ['filters', 0, 'filter_type'], 'most'],
    ['locations.list', ['locations', 0, 'type'], 'underground'],
  ] as const satisfies readonly (readonly [OperationId, Path, unknown])[]
  for (const [id, path, value] of unknown) {
    const { output, answer } = answers.find((each) => each.id === id) as (typeof answers)[number]
    const given = withValueAt(answer, path, value)
    expect(output.parse(given), id).toEqual(given)
  }
})
