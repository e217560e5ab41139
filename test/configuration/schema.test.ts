import { configJsonSchema } from '@muster/server'
import { expect, test } from 'vitest'
import { withQueueTexts, type Json } from './described.js'

const document = withQueueTexts(configJsonSchema())

test('packages/server/muster.schema.json is the schema of the configuration, which `pnpm schema` writes', async () => {
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../../packages/server/muster.schema.json')
})

/** Returns the path of each named property in a schema. */
function propertiesIn(schema: unknown, path: readonly string[] = []): (readonly [path: string, property: Json])[] {
  if (Array.isArray(schema)) return schema.flatMap((part) => propertiesIn(part, path))
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, part]) => {
    if (key !== 'properties') return key === 'default' ? [] : propertiesIn(part, [...path, key])
    return Object.entries(part as Readonly<Record<string, Json>>).flatMap(([name, property]) => [
      [[...path, name].join('.'), property] as const,
      ...propertiesIn(property, [...path, name]),
    ])
  })
}

test('every field of the configuration is explained', () => {
  const properties = propertiesIn(document)
  expect(properties.length).toBeGreaterThan(200)
  const silent = properties.filter(([, { description }]) => typeof description !== 'string' || description === '')
  expect(silent.map(([path]) => path)).toEqual([])
})

test('every object of the configuration refuses unknown names', () => {
  const open: string[] = []
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    if ('properties' in schema && !('additionalProperties' in schema && schema.additionalProperties === false))
      open.push(path)
    for (const [key, part] of Object.entries(schema)) visit(part, `${path}.${key}`)
  }
  visit(document, '')
  expect(open).toEqual([])
})
