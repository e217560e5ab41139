import { MusterError } from '@muster/core'
import { operations, type OperationId } from '@muster/core/api'
import type { EmulatorOptions } from '@muster/emulator'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { rows } from '../specification/rows.js'
import { causes, type Cause } from './causes.js'
import { furnish, furnishable, inputsFor, type Furniture } from './furnish.js'
import { call, operationOf, start, under, type Harness, type RawAnswer, type Tamper } from './harness.js'
import { fieldsIn, fieldsOf } from './shapes.js'

/**
 * Calls every operation of the emulator over HTTP with the typed client, until each declared status has occurred:
 * successes, and errors by a natural cause if there is one.
 */

interface Furnished {
  readonly service: Harness
  readonly furniture: Furniture
}

async function furnished(options: EmulatorOptions = {}): Promise<Furnished> {
  const service = await start({ ...furnishable, ...options })
  return { service, furniture: await furnish(service) }
}

type Input = Readonly<Record<string, unknown>>
const inputOf = (id: OperationId, furniture: Furniture) => under<Input>(inputsFor(furniture), id)

const pair = (id: OperationId, status: number) => `${id} ${status}`
const seen = new Set<string>()
const seenFields = new Set<string>()

/** The error class of each status. */
const errorNames: Readonly<Record<number, string>> = {
  400: 'InvalidInput',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'AlreadyTerminated',
  422: 'NoCapacity',
  424: 'DependencyFailed',
  500: 'ServerError',
  503: 'ServerError',
}

/** Makes one call, compares the response or error with the description and the document, and returns the status. */
async function statusOf({ answers }: Harness, id: OperationId, answer: () => Promise<unknown>): Promise<number> {
  const before = answers.length
  const outcome = await answer().then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  )
  expect(answers).toHaveLength(before + 1)
  const raw = answers.at(-1) as RawAnswer
  expect(raw.id).toBe(id)
  if ('result' in outcome) checkAnswer(raw, outcome.result)
  else checkRefusal(raw, outcome.error)
  seen.add(pair(id, raw.status))
  return raw.status
}

const bodyOf = ({ body }: RawAnswer): unknown => (body === '' ? undefined : JSON.parse(body))

function checkAnswer(answer: RawAnswer, result: unknown): void {
  const raw = bodyOf(answer)
  expect(result, 'the client drops nothing').toEqual(raw)
  if (raw === undefined) return
  const { method, path, output } = operationOf(answer.id)
  expect(output?.parse(raw), 'the description drops nothing').toEqual(raw)
  const { undocumented, documented } = fieldsOf(raw, shapeOf(`${method} ${path}`), answer.id)
  expect(undocumented, 'fields that the document has not').toEqual([])
  for (const field of documented) seenFields.add(field)
}

const shapeOf = (route: string) => rows.find((row) => row.route === route)?.response ?? {}

function checkRefusal({ id, status, body }: RawAnswer, error: unknown): void {
  expect(error).toBeInstanceOf(MusterError)
  expect(error).toMatchObject({ operation: id, status })
  expect((error as MusterError).name).toBe(
    id === 'deployments.metrics' && status === 422 ? 'InvalidInput' : errorNames[status],
  )
  expect(JSON.parse(body)).toMatchObject({ message: expect.stringMatching(/./) as string })
}

describe('a response of the emulator to a specific cause', () => {
  let service: Harness | undefined
  afterEach(() => service?.close())

  const usual = operations.map(([id, { success }]) => ({ id, status: success[0] as number, cause: undefined }))
  const unusual = operations.flatMap(([id]) => {
    const own = under<Readonly<Record<string, Cause<unknown>>>>(causes, id)
    return Object.entries(own).map(([status, cause]) => ({ id, status: Number(status), cause }))
  })

  test.each([...usual, ...unusual])(
    'the response of the emulator to $id with status $status conforms to the API document',
    async ({ id, status, cause }) => {
      const { service: fresh, furniture } = await furnished(cause?.options)
      service = fresh
      // A link must exist before it can be removed.
      if (id === 'pullProfiles.unlink') await fresh.client.pullProfiles.link(inputsFor(furniture).pullProfiles.link)
      if (id === 'fleets.unlink') await fresh.client.fleets.link(inputsFor(furniture).fleets.link)
      const input = cause === undefined ? inputOf(id, furniture) : await cause.input(fresh, furniture)
      expect(await statusOf(fresh, id, () => call(fresh.client, id, input))).toBe(status)
    },
  )
})

describe('an error that every operation has in the same way', () => {
  let shared: Furnished
  beforeAll(async () => {
    shared = await furnished()
  })
  afterAll(() => shared.service.close())

  const declaring = (status: number) => operations.filter(([, { errors }]) => errors.includes(status)).map(([id]) => id)

  const withUnknownParameter: Tamper = (request) => {
    const separator = request.path.includes('?') ? '&' : '?'
    return { ...request, path: `${request.path}${separator}unheard_of=1` }
  }

  test.each(declaring(400))('the emulator answers %s with 400 for an unknown parameter', async (id) => {
    const { service, furniture } = shared
    const client = service.clientWith({ tamper: withUnknownParameter })
    expect(await statusOf(service, id, () => call(client, id, inputOf(id, furniture)))).toBe(400)
    expect(service.answers.at(-1)?.body).toContain('unheard_of')
  })

  /** Headers are a list of alternating names and values. */
  const withoutAuthorization: Tamper = (request) => {
    const headers = request.headers as readonly string[]
    return { ...request, headers: headers.filter((_, index) => headers[index - (index % 2)] !== 'authorization') }
  }

  test.each(declaring(401))('the emulator answers %s with 401 for a missing or wrong token', async (id) => {
    const { service, furniture } = shared
    const clients = [service.clientWith({ tamper: withoutAuthorization })]
    if (operationOf(id).auth === 'token') clients.push(service.clientWith({ token: 'wrong' }))
    for (const client of clients) {
      expect(await statusOf(service, id, () => call(client, id, inputOf(id, furniture)))).toBe(401)
    }
  })

  /** An operation without an id in its input, so that only a declared fault causes its 404. */
  const WITHOUT_ID = 'deployments.deployLegacy'
  const names = declaring(404).flatMap((id) => {
    if (id === WITHOUT_ID) return []
    const { pathKeys } = operationOf(id)
    return (pathKeys.length > 0 ? pathKeys : ['session_id']).map((name) => [id, name] as const)
  })

  test.each(names)('the emulator answers %s with 404 for an unknown id: %s', async (id, name) => {
    const { service, furniture } = shared
    const input = { ...inputOf(id, furniture), [name]: 'nobody' }
    expect(await statusOf(service, id, () => call(service.client, id, input))).toBe(404)
    if (name !== 'access_point_id') expect(service.answers.at(-1)?.body).toContain('"nobody')
  })

  const byFault = [...declaring(500).map((id) => [id, 500] as const), [WITHOUT_ID, 404] as const]
  test.each(byFault)('the emulator answers %s with %i for a declared fault', async (id, status) => {
    const { service, furniture } = shared
    const withdraw = service.emulator.faults.add({ operation: id, status })
    expect(await statusOf(service, id, () => call(service.client, id, inputOf(id, furniture)))).toBe(status)
    withdraw()
  })

  test('refused calls of every operation have no effect on the emulator', () => {
    const { service, furniture } = shared
    expect(service.emulator.inspect()).toMatchObject({
      applications: [{ name: 'arena', versions: ['1.0'] }],
      storages: ['logs'],
      fleets: ['europe'],
      deployments: [{ request_id: furniture.request_id, current_status: 'Status.READY' }],
      relaySessions: [{}],
    })
  })
})

test('fields of emulator responses that are empty at first get values later', async () => {
  const { service, furniture } = await furnished()
  const { client, clock, emulator } = service
  const read = (id: OperationId, input: Input) => statusOf(service, id, () => call(client, id, input))

  expect(await read('versions.update', { app_name: 'arena', version_name: '1.0', arguments: '--ranked' })).toBe(200)
  expect(await read('storages.list', { page: 2 })).toBe(200)
  emulator.faults.add({ operation: 'deployments.deployLegacy', deployment: 'error' })
  const legacy = { app_name: 'arena', ip_list: ['203.0.113.7'], command: './server', arguments: '-v' }
  const { request_id } = await client.deployments.deployLegacy(legacy)
  await client.deployments.stop({ request_id: furniture.request_id })
  await clock.advance(60_000)
  expect(await read('deployments.get', { request_id })).toBe(200)
  expect(await read('deployments.logs', { request_id })).toBe(200)
  expect(await read('deployments.get', { request_id: furniture.request_id })).toBe(200)
  await service.close()
})

test('the conformance tests have seen every response status that the API document declares', () => {
  const declared = operations.flatMap(([id, { success, errors }]) =>
    [...success, ...errors].map((status) => pair(id, status)),
  )
  expect([...seen].toSorted()).toEqual(declared.toSorted())
})

test('the tests have seen every response field of the API document, except those the emulator never sends', () => {
  const all = new Set(operations.flatMap(([id, { method, path }]) => fieldsIn(shapeOf(`${method} ${path}`), id)))
  expect([...all].filter((field) => !seenFields.has(field)).toSorted()).toEqual([
    'ContainerLogs.logs_link', // The logs are not stored anywhere else.
    'RelaySession.error', // The emulator's relays never fail by themselves.
    'RelaySessionOfUser.error',
    'Version.private_token', // The emulator does not return secrets, although the document does not exclude that.
  ])
})
