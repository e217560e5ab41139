import { expect, test } from 'vitest'
import { scenesJsonSchema } from './scene-schema.js'

type Json = Readonly<Record<string, unknown>>

interface Moments {
  readonly propertyNames: { readonly pattern: string }
}
interface Definitions {
  readonly scene: { readonly properties: { readonly expect: Moments; readonly happens: Moments } }
}

const schema = scenesJsonSchema() as Json & { readonly definitions: Definitions }

test('the JSON schema of scenes explains every field, and allows other names only as ticket attributes', () => {
  const silent: string[] = []
  const open: string[] = []
  const visit = (part: unknown, path: string): void => {
    if (typeof part !== 'object' || part === null) return
    const { properties, additionalProperties } = part as Json
    for (const [name, property] of Object.entries((properties ?? {}) as Readonly<Record<string, Json>>))
      if (property['description'] === undefined && property['$ref'] === undefined) silent.push(`${path}.${name}`)
    if (properties !== undefined && additionalProperties !== false) open.push(path)
    for (const [key, inner] of Object.entries(part)) visit(inner, `${path}.${key}`)
  }
  visit(schema, '')
  expect(silent).toEqual([])
  expect(open.map((path) => path.replace('.definitions.', ''))).toEqual([
    'defaults',
    'ticket.anyOf.0',
    'ticket.anyOf.0.properties.players.items',
  ])
})

test('the JSON schema of scenes checks the form of moments such as “after 12s”', () => {
  const fits = (field: 'expect' | 'happens', text: string) =>
    new RegExp(schema.definitions.scene.properties[field].propertyNames.pattern).test(text)
  for (const text of ['after 12s', 'by 1m 30s', 'after 1.5s', 'by 500ms']) expect(fits('expect', text)).toBe(true)
  for (const text of ['after 12', 'at 12s', 'after', 'after 12s!']) expect(fits('expect', text)).toBe(false)
  expect([fits('happens', 'after 5s'), fits('happens', 'by 5s')]).toEqual([true, false])
})
