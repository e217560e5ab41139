import { expectTypeOf, test } from 'vitest'
import type {
  Application,
  CreateDeployment,
  Deployment,
  DeploymentCreated,
  DeploymentListEntry,
  EndpointStorage,
  Fleet,
  Location,
  Masked,
  RelaySession,
} from '../api/index.js'
import type { ApplicationList } from '../api/applications.js'
import type { Client } from './client-types.js'

declare const client: Client

test('each client operation takes its input and resolves to the body of its answer (types)', () => {
  expectTypeOf(client.deployments.create).parameter(0).toEqualTypeOf<CreateDeployment>()
  expectTypeOf(
    client.deployments.create({ application: 'a', version: 'v', users: [] }),
  ).resolves.toEqualTypeOf<DeploymentCreated>()
  expectTypeOf(client.deployments.get({ request_id: 'x' })).resolves.toEqualTypeOf<Deployment>()
  expectTypeOf(client.deployments.waitUntilReady('x')).resolves.toEqualTypeOf<Deployment>()
})

test('a required input and its required keys cannot be left out of a call (types)', () => {
  // @ts-expect-error -- which application?
  void client.applications.get()
  // @ts-expect-error -- request_id is missing
  void client.deployments.get({})
  // @ts-expect-error -- no such key
  void client.deployments.get({ request_id: 'x', requestId: 'x' })
  // @ts-expect-error -- ports are numbers, and so are pages
  void client.fleets.list({ page: '1' })
})

test('an input without required keys can be left out of a call (types)', () => {
  expectTypeOf(client.applications.list()).resolves.toEqualTypeOf<ApplicationList>()
  void client.relays.list()
  void client.fleets.list()
  void client.locations.list({ tags: true }, { timeoutMs: 1000, priority: 3, signal: new AbortController().signal })
  void client.applications.list({ page: 1 })
})

test('an answer without content has type undefined, and optional content an optional type', () => {
  expectTypeOf(client.applications.delete({ app_name: 'a' })).resolves.toEqualTypeOf<undefined>()
  expectTypeOf(client.relays.revokeUser({ session_id: 's', authorization_token: 1 })).resolves.toEqualTypeOf<
    RelaySession | undefined
  >()
})

test('only paged operations have `all`, which yields the items (types)', () => {
  expectTypeOf(client.fleets.list.all()).toEqualTypeOf<AsyncGenerator<Fleet, void, undefined>>()
  expectTypeOf(client.deployments.list.all()).toEqualTypeOf<AsyncGenerator<DeploymentListEntry, void, undefined>>()
  expectTypeOf(client.storages.list.all({ x_fields: 'endpoints{name}' })).toEqualTypeOf<
    AsyncGenerator<Masked<EndpointStorage>, void, undefined>
  >()
  // @ts-expect-error -- whose policies?
  client.policies.list.all()
  expectTypeOf(client.applications.list.all()).toEqualTypeOf<AsyncGenerator<Application, void, undefined>>()
  // @ts-expect-error -- one deployment is not a list
  client.deployments.get.all()
})

test('client events and close have types', () => {
  client.events.on('response', ({ operation, status }) => {
    expectTypeOf(operation).toExtend<string>()
    expectTypeOf(status).toEqualTypeOf<number | undefined>()
  })
  // @ts-expect-error -- no such event
  client.events.on('answer', () => {})
  expectTypeOf(client.close()).resolves.toEqualTypeOf<void>()
  expectTypeOf<Location>().toHaveProperty('city')
})
