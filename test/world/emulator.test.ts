/**
 * Compares the emulator of a public deployment with observations there. test/conformance tests the emulator of the
 * specification.
 */
import { type OperationId, operations } from '@muster/core/api'
import { describe, expect, test } from 'vitest'
import { furnished } from './furnished.js'
import { faultIn, OBSERVED_PATHS, observedOperations, type Shape } from './observed.js'

const routes = new Map(operations.map(([id, { method, path }]) => [id, `${method} ${path}`]))
const observed = new Map(observedOperations.map((one) => [`${one.method} ${one.path}`, one]))
const observedOf = (id: OperationId) => {
  const route = routes.get(id) ?? ''
  return observed.get(OBSERVED_PATHS[route] ?? route)
}

/** Returns the members of a value that its shape lacks. */
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

/** The list of an image's tags has a pagination that only the shape of paged lists contains. */
const BESIDE_THE_SHAPES = ['.total_count', '.pagination']

describe('a response of the emulator in mode observed', () => {
  const known = operations.map(([id]) => id).filter((id) => observedOf(id) !== undefined)

  test.each(known)(
    'in mode observed the emulator answers %s in exactly the shape observed at the live service',
    async (id) => {
      const service = await furnished()
      const { status, text, body } = await service.send(id)
      const given = observedOf(id)?.gives.find((one) => one.status === status)
      expect(given, `${status} ${text}`).toBeDefined()
      if (given?.body === undefined) expect(text).toBe(undefined)
      else {
        expect(faultIn(body, given.body)).toBe(undefined)
        const surplus = surplusIn(body, given.body)
        expect(
          id === 'registry.listTags' ? surplus.filter((one) => !BESIDE_THE_SHAPES.includes(one)) : surplus,
        ).toEqual([])
      }
      await service.close()
    },
  )

  test.each(known)(
    'in mode observed the emulator answers %s for an unknown id with a documented status',
    async (id) => {
      const service = await furnished()
      const { method = '', path = '', errors = [], gives = [] } = observedOf(id) ?? {}
      const target = path.replaceAll(/\{\w+\}/g, 'nothing')
      const body = method === 'GET' ? undefined : {}
      const unknown = await service.call(method, target, body, { authorization: 'token wrong' })
      expect(errors).toContain(unknown.status)
      expect(unknown.body).toMatchObject({ message: expect.stringMatching(/./) as string })
      const { status } = await service.call(method, target, body)
      expect([...errors, ...gives.map((one) => one.status)]).toContain(status)
      await service.close()
    },
  )
})
