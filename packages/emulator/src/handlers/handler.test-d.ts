import type { Api, DeploymentId } from '@muster/core/api'
import { expectTypeOf, test } from 'vitest'
import { fail, noContent, ok, type Handler, type Handlers, type HandlersOf } from './handler.js'

type Create = Handler<Api['applications']['create']>
type Delete = Handler<Api['applications']['delete']>

test('a handler gets the input of its operation (types)', () => {
  expectTypeOf<Parameters<Handlers['deployments']['get']>[0]>().toEqualTypeOf<DeploymentId>()
  expectTypeOf((input: { readonly app_name: string }) =>
    input.app_name ? noContent() : noContent(),
  ).toExtend<Delete>()
  expectTypeOf((input: { readonly application_name: string }) =>
    input.application_name ? noContent() : noContent(),
  ).not.toExtend<Delete>()
})

test('a handler may return what its operation declares (types)', () => {
  expectTypeOf(() => ok({ name: 'arena' })).toExtend<Create>()
  expectTypeOf(async () => ok(200, { name: 'arena' })).toExtend<Create>()
  expectTypeOf(() => fail(409, 'taken')).toExtend<Create>()
  expectTypeOf(() => noContent()).toExtend<Delete>()
})

test('a handler with a status that its operation does not declare does not compile', () => {
  expectTypeOf(() => fail(404, 'gone')).not.toExtend<Create>()
  expectTypeOf(() => ok(201, { name: 'arena' })).not.toExtend<Create>()
})

test('a handler whose body does not fit its operation does not compile', () => {
  expectTypeOf(() => ok({ is_active: true })).not.toExtend<Create>()
  expectTypeOf(() => noContent()).not.toExtend<Create>()
  expectTypeOf(() => ok({ name: 'arena' })).not.toExtend<Delete>()
})

test('both documented successes of a relay revoke compile', () => {
  type Revoke = Handler<Api['relays']['revokeUser']>
  expectTypeOf(() => noContent()).toExtend<Revoke>()
  expectTypeOf(() => ok({ session_id: 'id' })).toExtend<Revoke>()
})

test('a missing handler does not compile', () => {
  expectTypeOf({ listTags: () => ok({ data: [] }), deleteTag: () => ok({}) }).toExtend<HandlersOf<'registry'>>()
  expectTypeOf({ listTags: () => ok({ data: [] }) }).not.toExtend<HandlersOf<'registry'>>()
})
