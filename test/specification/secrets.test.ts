import { operations } from '@muster/core/api'
import { addressKeys, secretFlags, secretKeys } from '@muster/core/internal'
import { expect, test } from 'vitest'
import { jsonSchema, type JsonSchema } from './shapes.js'

interface Property {
  readonly where: string
  readonly key: string
  readonly schema: JsonSchema
  /** Keys in the same object. */
  readonly beside: readonly string[]
}

function* propertiesOf(schema: JsonSchema, where: string): Generator<Property> {
  const beside = Object.keys(schema.properties ?? {})
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    yield { where: `${where}.${key}`, key, schema: inner, beside }
    yield* propertiesOf(inner, `${where}.${key}`)
  }
  for (const inner of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) yield* propertiesOf(inner, where)
  if (schema.items !== undefined) yield* propertiesOf(schema.items, where)
  if (typeof schema.additionalProperties === 'object') yield* propertiesOf(schema.additionalProperties, where)
}

const inputs = operations.flatMap(([id, { input }]) => [...propertiesOf(jsonSchema(input), `${id} input`)])
const outputs = operations.flatMap(([id, { output }]) =>
  output === undefined ? [] : [...propertiesOf(jsonSchema(output), `${id} output`)],
)
const all = [...inputs, ...outputs]

const isPassword = (schema: JsonSchema): boolean =>
  schema.format === 'password' || (schema.anyOf ?? []).some(isPassword)
const isText = ({ type, anyOf }: JsonSchema): boolean => type === 'string' || (anyOf ?? []).some(isText)

test('every API field named like a secret is marked as a secret', () => {
  const sounding = all.filter(
    ({ key }) => /secret|token|password|authorization/.test(key) && !secretFlags.includes(key),
  )
  expect(sounding.filter(({ key }) => !secretKeys.includes(key))).toEqual([])
  expect([...new Set(sounding.map(({ key }) => key))].toSorted()).toEqual([...secretKeys].toSorted())
})

test('every secret string of the API is marked in its schema', () => {
  const texts = all.filter(({ key, schema }) => secretKeys.includes(key) && isText(schema))
  expect(texts.length).toBeGreaterThan(5)
  expect(texts.filter(({ schema }) => !isPassword(schema)).map(({ where }) => where)).toEqual([])
  expect(
    all.filter(({ key, schema }) => isPassword(schema) && !secretKeys.includes(key)).map(({ where }) => where),
  ).toEqual([])
})

test('only the secret access key is write-only, and no answer contains it', () => {
  expect(outputs.filter(({ key }) => key === 'secret_access_key')).toEqual([])
  const writeOnly = inputs.filter(({ schema }) => schema.writeOnly === true).map(({ where }) => where)
  expect(writeOnly).toEqual(['storages.create input.secret_access_key', 'storages.update input.secret_access_key'])
})

test('every flag that marks a value as secret is next to that value', () => {
  const flags = all.filter(({ key }) => secretFlags.includes(key))
  expect([...new Set(flags.map(({ key }) => key))].toSorted()).toEqual([...secretFlags].toSorted())
  expect(flags.filter(({ beside }) => !beside.includes('value'))).toEqual([])
})

test('the keys of player addresses are all in the list `addressKeys`', () => {
  const servers = ['public_ip']
  const sounding = all.filter(({ key }) => /(^|_)ip(_|$)/.test(key) && !servers.includes(key) && key !== 'geo_ip_list')
  expect([...new Set(sounding.map(({ key }) => key))].toSorted()).toEqual([...addressKeys].toSorted())
  // The entries of geo_ip_list hold addresses under another key.
  expect(inputs.find(({ where }) => where === 'deployments.deployLegacy input.geo_ip_list.ip')?.key).toBe('ip')
})
