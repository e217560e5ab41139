import fc from 'fast-check'
import type { z } from 'zod'

/** JSON that roughly fits a schema: each field is as documented, of another type, null or missing. */
export function roughly(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = (schema as z.core.$ZodTypes)._zod
  const odd = fc.constantFrom<unknown>(null, 'text', '', 7, -1.5, 1e300, true, [], {}, [1], { a: 1 }, '1.2.3.4')
  const fitting = (): fc.Arbitrary<unknown> => {
    switch (def.type) {
      case 'catch':
      case 'optional':
      case 'nullable':
        return roughly(def.innerType)
      case 'object': {
        const fields = Object.entries(def.shape).map(([key, field]): [string, fc.Arbitrary<unknown>] => [
          key,
          roughly(field),
        ])
        return fc.record(Object.fromEntries([...fields, ['unknown_field', odd]]), { requiredKeys: [] })
      }
      case 'array':
        return fc.array(roughly(def.element), { maxLength: 3 })
      case 'record':
        return fc.dictionary(fc.constantFrom('game', 'query', '__proto__'), roughly(def.valueType), { maxKeys: 2 })
      case 'union':
        return fc.oneof(...def.options.map(roughly))
      case 'boolean':
        return fc.boolean()
      case 'number':
        return fc.oneof(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true }))
      default:
        return fc.constantFrom('text', '2026-01-31 08:15:30.250000')
    }
  }
  return fc.oneof({ weight: 8, arbitrary: fc.constant(undefined).chain(fitting) }, { weight: 1, arbitrary: odd })
}
