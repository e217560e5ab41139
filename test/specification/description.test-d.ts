import {
  type Api,
  type Application,
  type Deployment,
  type DeploymentTag,
  type EndpointStorage,
  type Fleet,
  type InputOf,
  type OutputOf,
  type RegistryTag,
  type SuccessOf,
  type Version,
  operation,
} from '@muster/core/api'
import type { ErrorsOf, Maybe, ReadMetrics, TimestampA, TimestampB } from '@muster/core/internal'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'

test('the two formats of timestamps are different types', () => {
  expectTypeOf<TimestampA>().not.toEqualTypeOf<TimestampB>()
  expectTypeOf<TimestampA>().not.toExtend<TimestampB>()
  expectTypeOf<TimestampB>().not.toExtend<TimestampA>()
  expectTypeOf<string>().not.toExtend<TimestampA>()
  expectTypeOf<'2026-01-31 08:15:30.250000'>().toExtend<TimestampA>()
  expectTypeOf<'2026-01-31 08:15:30.250000'>().not.toExtend<TimestampB>()
  expectTypeOf<'2026-01-31T08:15:30.250Z'>().toExtend<TimestampB>()
  expectTypeOf<'2026-01-31T08:15:30.250Z'>().not.toExtend<TimestampA>()
})

test('each resource has the timestamp format of the document', () => {
  expectTypeOf<Application['create_time']>().toEqualTypeOf<Maybe<TimestampA>>()
  expectTypeOf<EndpointStorage['last_updated']>().toEqualTypeOf<Maybe<TimestampA>>()
  expectTypeOf<Fleet['create_time']>().toEqualTypeOf<Maybe<TimestampA>>()
  expectTypeOf<DeploymentTag['create_time']>().toEqualTypeOf<Maybe<TimestampA>>()
  expectTypeOf<Deployment['removal_time']>().toEqualTypeOf<Maybe<TimestampA>>()
  expectTypeOf<Version['create_time']>().toEqualTypeOf<Maybe<TimestampB>>()
  expectTypeOf<Version['last_updated']>().toEqualTypeOf<Maybe<TimestampB>>()
  expectTypeOf<RegistryTag['last_push_at']>().toEqualTypeOf<Maybe<TimestampB>>()
  expectTypeOf<ReadMetrics['start_time']>().toEqualTypeOf<TimestampA | undefined>()
  expectTypeOf<ReadMetrics['end_time']>().toEqualTypeOf<TimestampA | undefined>()
})

test('the types of input, answer and statuses can be derived from an operation', () => {
  expectTypeOf<InputOf<Api['tags']['update']>>().toEqualTypeOf<{
    readonly request_id: string
    readonly tag_name: string
    readonly name: string
  }>()
  expectTypeOf<OutputOf<Api['deployments']['get']>>().toEqualTypeOf<Deployment>()
  expectTypeOf<OutputOf<Api['applications']['delete']>>().toEqualTypeOf<undefined>()
  expectTypeOf<ErrorsOf<Api['deployments']['create']>>().toEqualTypeOf<400 | 401 | 422 | 500>()
  expectTypeOf<SuccessOf<Api['deployments']['stop']>>().toEqualTypeOf<200 | 202>()
  expectTypeOf<SuccessOf<Api['applications']['get']>>().toEqualTypeOf<200>()
  expectTypeOf<SuccessOf<Api['applications']['delete']>>().toEqualTypeOf<204>()
})

test('a path placeholder that is not a key of the input does not compile', () => {
  const input = z.object({ app_name: z.string() })
  const fine = operation('GET /v1/app/{app_name}', { summary: 'fine', input, errors: [400, 404] })
  expectTypeOf<InputOf<typeof fine>>().toEqualTypeOf<{ app_name: string }>()
  expectTypeOf<ErrorsOf<typeof fine>>().toEqualTypeOf<400 | 404>()
  // @ts-expect-error -- there is no key for {version_name}
  operation('GET /v1/app/{app_name}/version/{version_name}', { summary: 'not fine', input, errors: [] })
  // @ts-expect-error -- nor is there such a method
  operation('FETCH /v1/app/{app_name}', { summary: 'not fine', input, errors: [] })
})
