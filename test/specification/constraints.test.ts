import { api, type Operation } from '@muster/core/api'
import { describe, expect, test } from 'vitest'
import {
  badInputs,
  deployment,
  metrics,
  policy,
  profile,
  start,
  storage,
  version,
  type AnyOperation,
} from './bad-inputs.js'

/** Returns the first faulty field; undefined if there is no fault. */
function complaint(
  operation: Pick<AnyOperation, 'input'>,
  input: unknown,
): { field: string; message: string } | undefined {
  const result = operation.input.safeParse(input)
  const issue = result.error?.issues[0]
  return issue && { field: issue.path.join('.') || ('keys' in issue ? String(issue.keys) : ''), message: issue.message }
}

describe('an input that the document or public facts exclude', () => {
  test.each(badInputs)('an input with %s is refused, naming the field', (_, operation, valid, change, field) => {
    expect(complaint(operation, valid)).toBeUndefined()
    const found = complaint(operation, { ...valid, ...change })
    expect(found?.field).toBe(field)
    expect(found?.message).not.toBe('')
  })
})

type Edge = readonly [what: string, operation: AnyOperation, input: object]

const accepted: readonly Edge[] = [
  ['req_memory of exactly twice req_cpu', api.versions.create, version],
  [
    'ports 0 and 59999',
    api.versions.create,
    {
      ...version,
      ports: [
        { port: 0, protocol: 'TCP' },
        { port: 59_999, protocol: 'QUIC' },
      ],
    },
  ],
  [
    'an environment value of exactly 4096 bytes',
    api.versions.create,
    { ...version, envs: [{ key: 'k', value: `${'€'.repeat(1365)}x` }] },
  ],
  ['null as command', api.versions.create, { ...version, command: null, arguments: null }],
  ['a threshold of 0.1', api.policies.create, { ...policy, threshold: 0.1 }],
  ['a threshold of 1', api.policies.create, { ...policy, threshold: 1 }],
  [
    'an end one microsecond after the start',
    api.deployments.metrics,
    { ...metrics, start_time: start, end_time: '2026-01-31 08:00:00.000001' },
  ],
  ['an end without a start', api.deployments.metrics, { ...metrics, end_time: start }],
  ...['30s', '1m', '5m', '10m', '1h'].map((steps): Edge => [
    `steps of ${steps}`,
    api.deployments.metrics,
    { ...metrics, steps },
  ]),
  ...[true, false, 'logs'].map((value): Edge => [
    `container_log_storage: ${value}`,
    api.deployments.stop,
    { request_id: 'r', container_log_storage: value },
  ]),
  [
    'geo_ip_list alone',
    api.deployments.deployLegacy,
    { app_name: 'a', geo_ip_list: [{ ip: '2001:db8::7', latitude: -90, longitude: 180 }] },
  ],
  ['a destination whose name only begins like /etc', api.pullProfiles.create, { ...profile, destination: '/etcetera' }],
  ['the largest token', api.relays.revokeUser, { session_id: 's', authorization_token: 2 ** 32 - 1 }],
  ['an empty image', api.applications.create, { name: 'shooter', image: '' }],
]

test.each(accepted)('an operation input just within the limits is accepted: %s', (_, operation, input) => {
  expect(complaint(operation, input)).toBeUndefined()
})

const paged = Object.entries(api).flatMap(([group, members]) =>
  Object.entries(members)
    .map(([name, operation]) => [`${group}.${name}`, operation as Operation] as const)
    .filter(([, { items }]) => items !== undefined),
)

test.each(paged)('%s accepts as page and limit only whole numbers from 1', (_, operation) => {
  const names = Object.fromEntries(operation.pathKeys.map((key) => [key, 'x']))
  for (const key of ['page', 'limit']) {
    expect(complaint(operation, { ...names, [key]: 1 })).toBeUndefined()
    for (const value of [0, -1, 1.5, '1', null]) {
      expect(complaint(operation, { ...names, [key]: value })?.field, String(value)).toBe(key)
    }
  }
})

const required: readonly (readonly [string, AnyOperation, object])[] = [
  ['versions.create', api.versions.create, version],
  ['deployments.create', api.deployments.create, deployment],
  ['storages.create', api.storages.create, storage],
  ['pullProfiles.create', api.pullProfiles.create, profile],
  ['policies.create', api.policies.create, policy],
  ['relays.authorizeUser', api.relays.authorizeUser, { session_id: 's', user_ip: '203.0.113.7' }],
  ['relays.revokeUser', api.relays.revokeUser, { session_id: 's', authorization_token: 0 }],
  ['deployments.selfStop', api.deployments.selfStop, { request_id: 'r', access_point_id: 'a', authorization: 'token' }],
]

test.each(required)('a missing input field of %s is refused by name', (_, operation, valid) => {
  for (const key of Object.keys(valid)) {
    const { [key as keyof typeof valid]: _removed, ...rest } = valid
    expect(complaint(operation, rest)?.field, key).toBe(key)
  }
})
