import { defaultSettings, operations, type OperationId } from '@muster/core/api'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryOf, fromJsonSchema } from '../arbitraries.js'
import { jsonSchema } from './shapes.js'

/**
 * Operations whose inputs JSON Schema cannot describe fully: one field bounds another, or a string needs more than a
 * pattern.
 */
const refined: readonly OperationId[] = [
  'versions.create', // req_memory at most twice req_cpu
  'pullProfiles.create', // destination outside of /etc
  'pullProfiles.update',
  'deployments.metrics', // end later than start, times that exist
  'deployments.deployLegacy', // exactly one of two lists
]

test.each(operations.filter(([id]) => !refined.includes(id)))(
  'the input of %s accepts everything that its JSON Schema allows',
  (_, { input }) => {
    fc.assert(
      fc.property(fromJsonSchema(jsonSchema(input)), (value) => {
        expect(input.parse(value)).toEqual(value)
      }),
      { numRuns: 30 },
    )
  },
)

test.each(operations.filter(([id]) => refined.includes(id)))(
  'the input of %s accepts everything that its JSON Schema and its limits allow',
  (_, { input }) => {
    fc.assert(
      fc.property(arbitraryOf(input), (value) => {
        expect(input.parse(value)).toEqual(value)
      }),
      { numRuns: 30 },
    )
  },
)

test.each(operations)('the input of %s refuses an unknown key', (_, { input }) => {
  const known = new Set([...Object.keys(jsonSchema(input).properties ?? {}), ...Object.values(defaultSettings)])
  const unknown = fc.string({ minLength: 1 }).filter((key) => !known.has(key) && key !== '__proto__')
  fc.assert(
    fc.property(arbitraryOf(input), unknown, fc.jsonValue({ maxDepth: 0 }), (value, key, more) => {
      const issues = input.safeParse({ ...(value as object), [key]: more }).error?.issues
      expect(issues?.map((issue) => ('keys' in issue ? issue.keys : issue.path))).toEqual([[key]])
    }),
    { numRuns: 10 },
  )
})
