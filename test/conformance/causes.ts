import type { Api, InputOf, OperationId, SuccessOf } from '@muster/core/api'
import type { ErrorsOf } from '@muster/core/internal'
import type { EmulatorOptions } from '@muster/emulator'
import { user, version, type Furniture } from './furnish.js'
import type { Harness } from './harness.js'

/** The cause of a status: the preparation, and the input that then gets the status. */
export interface Cause<Input> {
  /** Options of the emulator. */
  readonly options?: EmulatorOptions
  readonly input: (harness: Harness, furniture: Furniture) => Input | Promise<Input>
}

/** Statuses with the same cause for every operation; see conformance.test.ts. */
type Usual = 400 | 401 | 404 | 500

/** All other statuses. If an operation has two successes, 200 counts as usual. */
type Unusual<Op> = Exclude<ErrorsOf<Op>, Usual> | (200 extends SuccessOf<Op> ? Exclude<SuccessOf<Op>, 200> : never)

/** A cause for each unusual status that an operation declares. A missing one does not compile. */
export type Causes = {
  readonly [Group in keyof Api]: {
    readonly [Name in keyof Api[Group]]: {
      readonly [Status in Unusual<Api[Group][Name]>]: Cause<InputOf<Api[Group][Name]>>
    }
  }
}

const none = {}
/** Returns the cause of a status that no caller can provoke: a declared fault. */
const declared = <Input>(
  operation: OperationId,
  status: number,
  input: (furniture: Furniture) => Input,
): Cause<Input> => ({
  input: ({ emulator }, furniture) => {
    emulator.faults.add({ operation, status })
    return input(furniture)
  },
})

/** A filter that no location matches. */
const nowhere = [{ field: 'city', values: ['Atlantis'], filter_type: 'any' }]

/** Creates a deployment that is not READY yet. */
const young = async ({ client, emulator }: Harness) => {
  const { request_id } = await client.deployments.create({ application: 'arena', version: '1.0', users: [user] })
  const variables = emulator.environment(request_id)
  return {
    request_id,
    access_point_id: variables?.['SERVICE_DELETE_URL']?.split('/').at(-1) ?? '',
    authorization: variables?.['SERVICE_DELETE_TOKEN'] ?? '',
  }
}

/** Stops the furnished deployment and waits until it is terminated. */
const terminated = async ({ client, clock }: Harness, { request_id }: Furniture) => {
  await client.deployments.stop({ request_id })
  await clock.advance(60_000)
}

export const causes: Causes = {
  applications: {
    create: { 409: { input: () => ({ name: 'arena' }) } },
    update: {
      409: {
        input: async ({ client }) => {
          await client.applications.create({ name: 'puzzle' })
          return { app_name: 'arena', name: 'puzzle' }
        },
      },
    },
    get: none,
    delete: none,
    list: none,
  },
  versions: {
    create: {
      409: { input: () => ({ ...version, app_name: 'arena', name: '1.0' }) },
      424: { input: () => ({ ...version, app_name: 'arena', name: '2.0', docker_tag: 'missing', verify_image: true }) },
    },
    get: none,
    update: {
      424: { input: () => ({ app_name: 'arena', version_name: '1.0', docker_tag: 'missing', verify_image: true }) },
    },
    delete: none,
    list: none,
  },
  registry: { listTags: none, deleteTag: none },
  storages: { create: none, get: none, update: none, delete: none, list: none },
  pullProfiles: { create: none, get: none, update: none, delete: none, list: none, link: none, unlink: none },
  locations: { list: none, beacons: none },
  deployments: {
    create: {
      422: {
        input: async ({ client }) => {
          await client.versions.create({ ...version, app_name: 'arena', name: 'uncached', docker_tag: 'never pulled' })
          return { application: 'arena', version: 'uncached', users: [user], require_cached_locations: true }
        },
      },
    },
    get: none,
    stop: {
      202: { input: async (harness) => ({ request_id: (await young(harness)).request_id }) },
      403: declared('deployments.stop', 403, ({ request_id }) => ({ request_id })),
      410: {
        input: async (harness, furniture) => {
          await terminated(harness, furniture)
          return { request_id: furniture.request_id }
        },
      },
    },
    selfStop: {
      202: { input: young },
      403: {
        input: (_, { request_id, access_point_id }) => ({
          request_id,
          access_point_id,
          authorization: 'of another container',
        }),
      },
      410: {
        input: async (harness, furniture) => {
          await terminated(harness, furniture)
          const { request_id, access_point_id, delete_token } = furniture
          return { request_id, access_point_id, authorization: delete_token }
        },
      },
    },
    bulkStop: none,
    list: none,
    logs: none,
    metrics: { 422: { input: (_, { request_id }) => ({ request_id, end_time: '2001-01-01 00:00:00.000000' }) } },
    deployLegacy: {
      409: {
        input: async ({ client }) => {
          await client.versions.update({ app_name: 'arena', version_name: '1.0', is_active: false })
          return { app_name: 'arena', ip_list: ['203.0.113.7'] }
        },
      },
      422: { input: () => ({ app_name: 'arena', ip_list: ['203.0.113.7'], filters: nowhere }) },
    },
  },
  fleets: { create: none, get: none, update: none, delete: none, list: none, link: none, unlink: none },
  policies: { create: none, list: none, get: none, update: none, delete: none },
  tags: {
    list: none,
    get: none,
    create: { 409: { input: (_, { request_id }) => ({ request_id, name: 'ranked' }) } },
    update: {
      409: {
        input: async ({ client }, { request_id }) => {
          await client.tags.create({ request_id, name: 'casual' })
          return { request_id, tag_name: 'casual', name: 'ranked' }
        },
      },
    },
    delete: none,
  },
  relays: {
    create: {
      403: declared('relays.create', 403, () => ({ users: [{ ip: '203.0.113.9' }] })),
      503: { input: () => ({ users: [{ ip: '203.0.113.9' }], filters: nowhere }) },
    },
    list: { 403: declared('relays.list', 403, () => ({})) },
    get: { 403: declared('relays.get', 403, ({ session_id }) => ({ session_id })) },
    delete: { 403: declared('relays.delete', 403, ({ session_id }) => ({ session_id })) },
    authorizeUser: {
      403: declared('relays.authorizeUser', 403, ({ session_id }) => ({ session_id, user_ip: '203.0.113.10' })),
      409: {
        input: async ({ client }) => {
          const { session_id } = await client.relays.create({ users: [{ ip: '203.0.113.9' }] })
          return { session_id, user_ip: '203.0.113.10' }
        },
      },
    },
    revokeUser: {
      204: {
        options: { relays: { revokeAnswers: 204 } },
        input: (_, { session_id, user_token }) => ({ session_id, authorization_token: user_token }),
      },
      403: declared('relays.revokeUser', 403, ({ session_id, user_token }) => ({
        session_id,
        authorization_token: user_token,
      })),
    },
  },
}
