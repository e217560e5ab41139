import { api, operations, type InputOf, type Operation } from '@muster/core/api'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { arbitraryOf } from '../arbitraries.js'
import { furnish, furnishable, user, type Furniture } from './furnish.js'
import { call, start, type Harness } from './harness.js'

/** The emulator reads every input over HTTP as the client has written it. */

/**
 * Starts a separate service for each group of tests, because names from one group would conflict with those of the
 * next.
 */
function furnishedService(): { readonly service: Harness; readonly furniture: Furniture } {
  const made: { service?: Harness; furniture?: Furniture } = {}
  beforeAll(async () => {
    made.service = await start(furnishable)
    made.furniture = await furnish(made.service)
  })
  afterAll(() => made.service?.close())
  return made as { readonly service: Harness; readonly furniture: Furniture }
}

/** True if a name can be a path segment. URL parsers remove `.` and `..` even if they are encoded. */
const isName = (name: string) => name !== '.' && name !== '..'

/** Generates arbitrary inputs that can be sent. */
const sendable = <Input>({ input, pathKeys }: Pick<Operation<Input>, 'input' | 'pathKeys'>) =>
  arbitraryOf(input).filter((value) =>
    pathKeys.every((key) => isName(String((value as Readonly<Record<string, unknown>>)[key]))),
  )

describe('any valid input sent by the client to the emulator', () => {
  const given = furnishedService()
  /** The emulator's errors for requests that it cannot parse. */
  const unread = new RegExp(
    'is not a (field|query parameter)|is missing|percent-encoding|must be (JSON|true|a whole)|more than once|' +
      'the body must',
  )

  test.each(operations)('the emulator reads any valid input of the client to %s unchanged', async (id, operation) => {
    const handled = () =>
      Object.values(given.service.emulator.counters.requests[id] ?? {}).reduce((sum, count) => sum + count, 0)
    await fc.assert(
      fc.asyncProperty(sendable(operation), async (input) => {
        const before = handled()
        const error = await call(given.service.client, id, input).then(
          () => undefined,
          (reason: unknown) => reason as { readonly status?: number; readonly message: string },
        )
        expect(handled()).toBe(before + 1)
        if (error === undefined) return
        // Unknown names and wrong values are refused with the operation's own errors.
        expect(operation.errors).toContain(error.status)
        expect(error.status).toBeLessThan(500)
        expect(error.message).not.toMatch(unread)
      }),
      { numRuns: 15 },
    )
    expect(given.service.emulator.counters.unrouted).toBe(0)
  })
})

describe('values written to the emulator', () => {
  const given = furnishedService()
  const roundTrips = <Input>(
    operation: Pick<Operation<Input>, 'input' | 'pathKeys'>,
    check: (input: Input) => Promise<void>,
    fixed: Partial<Input> = {},
  ) =>
    fc.assert(
      fc.asyncProperty(sendable(operation), (input) => check({ ...input, ...fixed })),
      { numRuns: 20 },
    )

  test('values of applications are read back from the emulator', () =>
    roundTrips(api.applications.create, async (input) => {
      fc.pre(isName(input.name) && input.name !== 'arena')
      await given.service.client.applications.create(input)
      expect(await given.service.client.applications.get({ app_name: input.name })).toMatchObject(input)
      await given.service.client.applications.delete({ app_name: input.name })
    }))

  test('values of versions are read back from the emulator, except for their secrets', () =>
    roundTrips(
      api.versions.create,
      async ({ app_name, private_token: _token, endpoint_storage: _storage, ...input }) => {
        fc.pre(isName(input.name) && input.name !== '1.0')
        await given.service.client.versions.create({ ...input, app_name })
        const { envs = [], ...rest } = input
        const shown = envs.map(({ key, value, is_secret = false, is_hidden }) => ({
          key,
          ...(!is_secret && is_hidden !== true && { value }),
          is_secret,
          ...(is_hidden !== undefined && { is_hidden }),
        }))
        const read = await given.service.client.versions.get({ app_name, version_name: input.name })
        expect(read).toMatchObject({ ...rest, envs: shown })
        expect(read).not.toHaveProperty('private_token')
        await given.service.client.versions.delete({ app_name, version_name: input.name })
      },
      { app_name: 'arena', verify_image: false },
    ))

  test('values of endpoint storages are read back from the emulator, except for their secret', async () => {
    const { request_id } = await given.service.client.deployments.create({
      application: 'arena',
      version: '1.0',
      users: [user],
    })
    await roundTrips(api.storages.create, async (input) => {
      fc.pre(isName(input.name) && input.name !== 'logs')
      const { secret_access_key: _, ...shown } = input
      await given.service.client.storages.create(input)
      const read = await given.service.client.storages.get({ endpoint_name: input.name })
      expect(read).toMatchObject(shown)
      expect(read).not.toHaveProperty('secret_access_key')
      const stopped = await given.service.client.deployments.stop({ request_id, container_log_storage: input.name })
      expect(stopped.message, 'the storage was found by its name').not.toContain('not stored')
      await given.service.client.storages.delete({ endpoint_name: input.name })
    })
  })

  test('values of pull profiles are read back from the emulator', () =>
    roundTrips(
      api.pullProfiles.create,
      async (input) => {
        fc.pre(isName(input.name) && input.name !== 'maps')
        const { endpoint_name, ...shown } = input
        await given.service.client.pullProfiles.create(input)
        expect(
          await given.service.client.pullProfiles.get({ endpoint_name, pull_profile_name: input.name }),
        ).toMatchObject(shown)
        await given.service.client.pullProfiles.delete({ endpoint_name, pull_profile_name: input.name })
      },
      { endpoint_name: 'logs' },
    ))

  test('values of fleets and pages of them are read back from the emulator', () =>
    fc.assert(
      fc.asyncProperty(
        sendable(api.fleets.create),
        fc.integer({ min: 1, max: 5 }),
        fc.nat(49),
        async (input, page, more) => {
          fc.pre(isName(input.name) && input.name !== 'europe')
          const limit = 1 + more
          await given.service.client.fleets.create(input)
          expect(await given.service.client.fleets.get({ fleet_name: input.name })).toMatchObject({
            enabled: false,
            ...input,
          })
          const { fleets, pagination } = await given.service.client.fleets.list({ page, limit })
          expect(pagination?.number).toBe(page)
          expect(fleets.length).toBeLessThanOrEqual(limit)
          await given.service.client.fleets.delete({ fleet_name: input.name })
        },
      ),
      { numRuns: 20 },
    ))

  test('values of fleet policies are read back from the emulator', () =>
    roundTrips(
      api.policies.create,
      async ({ fleet_name, data, ...input }) => {
        fc.pre(isName(input.name) && input.name !== 'base' && (input.minimum ?? 0) <= (input.maximum ?? Infinity))
        // Filters must be valid; their values are arbitrary.
        const filters = data?.filters?.map(({ values }) => ({ field: 'city', values, filter_type: 'any' })) ?? []
        await given.service.client.policies.create({ ...input, fleet_name, data: { filters } })
        const read = await given.service.client.policies.get({ fleet_name, policy_name: input.name })
        expect(read).toMatchObject({ ...input, data: { filters } })
        await given.service.client.policies.delete({ fleet_name, policy_name: input.name })
      },
      { fleet_name: 'europe', type: 'Location' },
    ))

  test('deployment tags are read back from the emulator, even as JSON in a query', () =>
    roundTrips(api.tags.create, async ({ name }: InputOf<typeof api.tags.create>) => {
      fc.pre(isName(name) && name !== 'ranked')
      const { request_id } = given.furniture
      await given.service.client.tags.create({ request_id, name })
      expect(await given.service.client.tags.get({ request_id, tag_name: name })).toMatchObject({ name })
      const query = { filters: [{ field: 'tags', operator: 'eq', value: name }] }
      const found = await given.service.client.deployments.list({ query })
      expect(found.data.map((deployment) => deployment.request_id)).toEqual([request_id])
      await given.service.client.tags.delete({ request_id, tag_name: name })
    }))

  test('masks of fields in a header are applied by the emulator', async () => {
    const masked = await given.service.client.storages.list({ x_fields: 'endpoints{name,bucket}' })
    expect(masked.endpoints?.find(({ name }) => name === 'logs')).toEqual({ name: 'logs', bucket: 'logs' })
    expect(masked).not.toHaveProperty('pagination')
    const x_fields = 'policies{maximum},pagination{number}'
    const policies = await given.service.client.policies.list({ fleet_name: 'europe', x_fields })
    expect(policies).toEqual({
      policies: expect.arrayContaining([{ maximum: 2 }]) as unknown,
      pagination: { number: 1 },
    })
  })
})
