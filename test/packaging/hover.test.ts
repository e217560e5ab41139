import { readdirSync, readFileSync } from 'node:fs'
import * as core from '@muster/core'
import { operations } from '@muster/core/api'
import { beforeAll, describe, expect, test } from 'vitest'
import { rows } from '../specification/rows.js'

/** Checks the comment that an editor shows for an operation of the client: it is in the package's declarations. */
const dist = new URL('../../packages/core/dist/api/', import.meta.url)

/** Statuses that every operation may return. Below, the error classes of the other statuses. */
const ofEveryCall = new Set([400, 401, 500])
const classOf: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'AlreadyTerminated',
  422: 'InvalidInput',
  424: 'DependencyFailed',
  503: 'ServerError',
}
const creates = new Set(['deployments.create', 'deployments.deployLegacy'])

let comments: ReadonlyMap<string, string>
beforeAll(() => {
  const texts = readdirSync(dist)
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => readFileSync(new URL(name, dist), 'utf8'))
  const members = texts.flatMap((text) => [
    ...text.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\s*readonly \w+: import\("[^"]+"\)\.Operation</g),
  ])
  const plain = members.map(([, comment = '']) => comment.replaceAll(/\s*\n\s*\* ?/g, ' ').trim())
  comments = new Map(plain.map((comment) => [/`([A-Z]+ \/[^`]*)`/.exec(comment)?.[1] ?? '', comment]))
})

test('all 58 operations have a hover text', () => {
  expect([...comments.keys()].toSorted()).toEqual(
    operations.map(([, { method, path }]) => `${method} ${path}`).toSorted(),
  )
})

describe('the hover text of an operation', () => {
  test.each(operations)(
    'the hover text of an operation says its purpose, limit, errors and source: %s',
    (id, { method, path, summary, limit, errors }) => {
      const route = `${method} ${path}`
      const comment = comments.get(route) ?? ''
      expect(comment).toContain(`${summary}. Route: \`${route}\`.`)
      expect(comment).toContain(`Limit: ${limit === undefined ? 'none documented' : `${limit.limit} per second`}.`)
      for (const status of errors.filter((one) => !ofEveryCall.has(one))) {
        const name = status === 422 && creates.has(id) ? 'NoCapacity' : classOf[status]
        expect(comment).toContain(`\`${name}\` (${status})`)
        expect(core).toHaveProperty(String(name))
      }
      const row = rows.find((one) => one.route === route)
      expect(comment).toContain(`Source: service-api, ${row?.group}`)
      if (row?.errorsBy !== undefined) expect(comment).toContain(`errors: ${row.errorsBy}`)
    },
  )
})

test('the hover text of a replaced operation is marked as deprecated', () => {
  const struck = [...comments].filter(([, comment]) => comment.includes('@deprecated')).map(([route]) => route)
  expect(struck).toEqual(['POST /v1/deploy'])
})
