/** Checks that the client returns all data of responses that are valid by either description of the service. */
import { type CallOptions, createClient, inProcess } from '@muster/core'
import { metricValues, type OperationId, operations } from '@muster/core/api'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryOf } from '../arbitraries.js'
import { faultIn, OBSERVED_PATHS, observedOperations, ofShape, readShape } from './observed.js'

type Call = (input: unknown, options?: CallOptions) => Promise<unknown>

/** Calls an operation with any valid input at a service that gives this response. */
async function answered(id: OperationId, status: number, body: unknown, input = inputs.get(id)): Promise<unknown> {
  const text = body === undefined ? null : JSON.stringify(body)
  const client = createClient({
    baseUrl: 'http://service.invalid',
    token: 'token of-the-account',
    retry: { attempts: 1 },
    dispatcher: inProcess(async () => new Response(text, { status })),
  })
  const [group = '', name = ''] = id.split('.')
  const call = (client as unknown as Record<string, Record<string, Call>>)[group]?.[name]
  try {
    return await call?.(input)
  } finally {
    await client.close()
  }
}

const described = new Map(operations)
const inputs = new Map(
  operations.map(([id, { input }]) => [id, fc.sample(arbitraryOf(input), { numRuns: 1, seed: 1 })[0]]),
)
const routeOf = (id: OperationId) => {
  const { method, path } = described.get(id) as { readonly method: string; readonly path: string }
  return OBSERVED_PATHS[`${method} ${path}`] ?? `${method} ${path}`
}
const observed = new Map(observedOperations.map((one) => [`${one.method} ${one.path}`, one]))

/**
 * Returns the parts of a response that the client did not return. A number may be returned as a string, and a string as
 * a number.
 */
function lost(sent: unknown, given: unknown, at = ''): string | undefined {
  if (sent === null || sent === undefined) return undefined
  if (typeof sent !== 'object') return String(sent) === String(given) ? undefined : `${at}: ${String(given)}`
  if (typeof given !== 'object' || given === null) return `${at}: ${String(given)}`
  const keys = Object.keys(sent).filter((key) => key !== '__proto__')
  const faults = keys.map((key) => lost(Reflect.get(sent, key), Reflect.get(given, key), `${at}.${key}`))
  return faults.find((fault) => fault !== undefined)
}

/** Sets the counts to 0 if the list is absent: an absent list has no entries, which shapes cannot express. */
function countedRight(id: OperationId, made: unknown): unknown {
  const { items } = described.get(id) ?? {}
  if (items === undefined || typeof made !== 'object' || made === null || items in made) return made
  const counts = ['total_count', 'count'].filter((key) => key in made)
  return { ...made, ...Object.fromEntries(counts.map((key) => [key, 0])) }
}

/**
 * True if the service says that it does not know the deployment. No status represents that, so the case is drawn again.
 */
const saysNothing = (id: OperationId, body: unknown) => id === 'deployments.get' && body === null

describe('a response that the observed description allows', () => {
  const known = operations.map(([id]) => id).filter((id) => observed.has(routeOf(id)))

  test('the observed description has responses for all operations except fleets and policies', () => {
    const gone = operations.map(([id]) => id).filter((id) => !known.includes(id))
    expect(gone.every((id) => /^(fleets|policies)\./.test(id))).toBe(true)
    expect([known.length, gone.length]).toEqual([46, 12])
  })

  test.each(known)('the client reads without loss the response to %s as observed at the live service', async (id) => {
    for (const { status, body } of observed.get(routeOf(id))?.gives ?? [])
      await fc.assert(
        fc.asyncProperty(body === undefined ? fc.constant(undefined) : ofShape(body), async (made) => {
          const sent = countedRight(id, made)
          if (saysNothing(id, sent)) return
          expect(lost(sent, described.get(id)?.output === undefined ? sent : await answered(id, status, sent))).toBe(
            undefined,
          )
        }),
        { numRuns: 15 },
      )
  })
})

describe('a response that the specification allows', () => {
  test.each(operations)(
    'the client reads a response of the specification without loss: %s',
    async (id, { output, success }) => {
      await fc.assert(
        fc.asyncProperty(output === undefined ? fc.constant(undefined) : arbitraryOf(output), async (sent) => {
          const status = sent === undefined ? 204 : (success.find((one) => one !== 204) ?? 200)
          expect(lost(sent, await answered(id, status, sent))).toBe(undefined)
        }),
        { numRuns: 10 },
      )
    },
  )
})

test('deployment metrics are strings, as in the specification, and metricValues converts them to numbers', async () => {
  const sent = { cpu: { datasets: [1, 2.5, 0] }, mem: { datasets: ['3', 'none', ''] } }
  const given = (await answered('deployments.metrics', 200, sent)) as {
    readonly cpu: { readonly datasets: readonly string[] }
    readonly mem: { readonly datasets: readonly string[] }
  }
  expect([given.cpu.datasets, given.mem.datasets]).toEqual([
    ['1', '2.5', '0'],
    ['3', 'none', ''],
  ])
  expect([metricValues(given.cpu), metricValues(given.mem), metricValues(null)]).toEqual([
    [1, 2.5, 0],
    [3, Number.NaN, Number.NaN],
    [],
  ])
})

test('listing all beacons works with a service that omits empty lists from its responses', async () => {
  const location = {}
  const entries = [
    { host: 'one', location },
    { host: 'two', location },
  ]
  const pages = [{ locations: entries, count: 2 }, { count: 2 }]
  const client = createClient({
    baseUrl: 'http://service.invalid',
    token: 'secret',
    dispatcher: inProcess(async () => Response.json(pages.shift() ?? {})),
  })
  const hosts: string[] = []
  for await (const { host } of client.locations.beacons.all()) hosts.push(String(host))
  expect(hosts).toEqual(['one', 'two'])
  await client.close()
})

describe('a list whose key is absent in a response', () => {
  test('a list whose key is absent in a response is empty if its count is 0, or if it has no count', async () => {
    const pagination = { number: 1, has_next: false }
    expect(await answered('deployments.list', 200, { total_count: 0, pagination })).toMatchObject({ data: [] })
    expect(await answered('locations.beacons', 200, { count: 0 })).toMatchObject({ locations: [] })
    expect(await answered('storages.list', 200, {})).toMatchObject({ endpoints: [] })
  })

  test.each([{}, { total_count: 3 }, { message: 'down for maintenance' }])(
    'a list without its key is refused, and not read as empty, unless its count is 0: %j',
    async (body) => {
      await expect(answered('deployments.list', 200, body, { page: 2, limit: 2 })).rejects.toThrow(
        'field data is not as described',
      )
    },
  )
})

describe('the observed shapes of responses', () => {
  test('observed response shapes are read with their limits', () => {
    expect(readShape('{a*:text(3–64), b:[int[-1–1440]?], c:{NAME:{d:x|y}}}?')).toEqual({
      kind: 'object',
      nullable: true,
      fields: {
        a: { isRequired: true, shape: { kind: 'text', min: 3, max: 64, nullable: false } },
        b: {
          isRequired: false,
          shape: { kind: 'list', nullable: false, of: { kind: 'int', min: -1, max: 1440, nullable: true } },
        },
        c: {
          isRequired: false,
          shape: {
            kind: 'by-name',
            nullable: false,
            of: {
              kind: 'object',
              nullable: false,
              fields: { d: { isRequired: false, shape: { kind: 'one-of', values: ['x', 'y'], nullable: false } } },
            },
          },
        },
      },
    })
    expect(() => readShape('{a:text')).toThrow(SyntaxError)
  })

  test('observed response shapes allow valid responses, and name a violation', () => {
    for (const { gives } of observedOperations)
      for (const { body } of gives)
        if (body !== undefined) fc.assert(fc.property(ofShape(body), (value) => faultIn(value, body) === undefined))
    const application = observed.get('POST /v1/app')?.takes
    expect(application && faultIn({ name: 'my-game', is_active: true }, application)).toBe('image')
    expect(application && faultIn({ name: 'my', is_active: true, image: '' }, application)).toBe('name')
  })
})

test('settings.fillRequired sends an application with both fields that the observed service requires', async () => {
  const bodies: unknown[] = []
  const send = async (settings: { readonly fillRequired?: boolean }) => {
    const client = createClient({
      baseUrl: 'http://service.invalid',
      token: 'x',
      settings,
      dispatcher: inProcess(async (request) => {
        bodies.push(await request.json())
        return Response.json({ name: 'my-game' })
      }),
    })
    await client.applications.create({ name: 'my-game' })
    await client.close()
  }
  await send({})
  await send({ fillRequired: false })
  expect(bodies).toEqual([{ name: 'my-game', is_active: true, image: '' }, { name: 'my-game' }])
  const application = observed.get('POST /v1/app')?.takes
  expect(bodies.map((body) => application && faultIn(body, application))).toEqual([undefined, 'is_active'])
})
