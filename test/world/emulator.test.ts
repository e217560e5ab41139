/** Both services that the emulator can be, each against its own description. */
import { readFileSync } from 'node:fs'
import { type OperationId, operations } from '@muster/core/api'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { furnished, type RawAnswer } from './furnished.js'
import { faultIn, OBSERVED_PATHS, observedOperations, type Shape } from './observed.js'

const routes = new Map(operations.map(([id, { method, path }]) => [id, `${method} ${path}`]))
const observed = new Map(observedOperations.map((one) => [`${one.method} ${one.path}`, one]))
const observedOf = (id: OperationId) => {
  const route = routes.get(id) ?? ''
  return observed.get(OBSERVED_PATHS[route] ?? route)
}

/** Members of a value that its shape does not have. */
function surplusIn(value: unknown, shape: Shape, at = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  if (shape.kind === 'list')
    return (value as unknown[]).flatMap((one, nth) => surplusIn(one, shape.of, `${at}[${nth}]`))
  if (shape.kind === 'by-name')
    return Object.entries(value).flatMap(([key, one]) => surplusIn(one, shape.of, `${at}.${key}`))
  if (shape.kind !== 'object' || Object.keys(shape.fields).length === 0) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const field = shape.fields[key]
    return field === undefined ? [`${at}.${key}`] : surplusIn(inner, field.shape, `${at}.${key}`)
  })
}

/** The pagination of the list of an image's tags has no place in its shape, but in the list of lists with pages. */
const BESIDE_THE_SHAPES = ['.total_count', '.pagination']

describe('observed, every answer has the observed shape and no other members', () => {
  const known = operations.map(([id]) => id).filter((id) => observedOf(id) !== undefined)

  test.each(known)('%s', async (id) => {
    const service = await furnished('observed')
    const { status, text, body } = await service.send(id)
    const given = observedOf(id)?.gives.find((one) => one.status === status)
    expect(given, `${status} ${text}`).toBeDefined()
    if (given?.body === undefined) expect(text).toBe(undefined)
    else {
      expect(faultIn(body, given.body)).toBe(undefined)
      const surplus = surplusIn(body, given.body)
      expect(id === 'registry.listTags' ? surplus.filter((one) => !BESIDE_THE_SHAPES.includes(one)) : surplus).toEqual(
        [],
      )
    }
    await service.close()
  })

  test.each(known)('%s of what is not there has a status that is described', async (id) => {
    const service = await furnished('observed')
    const { method = '', path = '', errors = [], gives = [] } = observedOf(id) ?? {}
    const target = path.replaceAll(/\{\w+\}/g, 'nothing')
    const body = method === 'GET' ? undefined : {}
    const unknown = await service.call(method, target, body, { authorization: 'token wrong' })
    expect(errors).toContain(unknown.status)
    expect(unknown.body).toMatchObject({ message: expect.stringMatching(/./) as string })
    const { status } = await service.call(method, target, body)
    expect([...errors, ...gives.map((one) => one.status)]).toContain(status)
    await service.close()
  })
})

interface Schemas {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>
}
type Responses = Readonly<Record<string, { readonly content?: { readonly 'application/json'?: object } }>>

const document = JSON.parse(readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')) as Schemas &
  object
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema(document, 'document')

/** Null stands for a field that has no value, as the document says. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const present = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(present.map(([key, inner]) => [key, withoutNulls(inner)]))
}

/** What of an answer is not as our OpenAPI document has it. */
function faultsOf(route: string, { status, text, body }: RawAnswer): unknown {
  const [method = '', path = ''] = route.split(' ')
  const response = document.paths[path]?.[method.toLowerCase()]?.responses[status]
  if (response === undefined) return `the document has no ${status} of ${route}: ${text}`
  if (response.content === undefined) return text
  const within = [path, method.toLowerCase(), 'responses', String(status), 'content', 'application/json', 'schema']
  const pointer = within.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
  const validate = ajv.compile({ $ref: `document#/paths/${pointer}` })
  return validate(withoutNulls(body)) ? undefined : validate.errors
}

test.each(operations.map(([id]) => id))(
  'by the specification, the answer of %s is as in docs/openapi.json',
  async (id) => {
    const service = await furnished('specification')
    const answer = await service.send(id)
    expect(answer.status, answer.text).toBeLessThan(300)
    expect(faultsOf(routes.get(id) ?? '', answer)).toBe(undefined)
    await service.close()
  },
)
