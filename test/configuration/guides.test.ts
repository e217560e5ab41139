/** Checks that the configuration examples in the guides are valid. */
import { readdirSync, readFileSync } from 'node:fs'
import { InvalidConfig, readConfigText } from '@muster/server'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'

const docs = new URL('../../docs/', import.meta.url)
const deploy = { application: 'my-game', version: '1' }
const rules = [
  { kind: 'distance', maxKm: 500 },
  { kind: 'difference', attribute: 'skill', max: 100 },
]
const queue = { name: 'example', rules, deploy }
const base = {
  service: { url: 'https://service.example', token: { env: 'TOKEN' } },
  auth: { keys: [{ name: 'backend', role: 'backend', key: { env: 'KEY' } }] },
  queues: [{ ...queue, matchSize: 2 }],
}
type Fields = Readonly<Record<string, unknown>>

/**
 * Completes an example to a whole file: the example gives top-level fields or the fields of a queue. A queue without a
 * server gets one.
 */
function fileWith(example: Fields): Fields {
  const isOfQueue = ['rules', 'teams', 'prefer', 'presence', 'deploy'].some((name) => name in example)
  const { scenes: _, defaults: __, ...rest } = example
  const size = 'teams' in example ? {} : { matchSize: 2 }
  const file = isOfQueue ? { ...base, queues: [{ ...queue, ...size, ...example }] } : { ...base, ...rest }
  const withServers = (one: Fields) =>
    'pool' in one ? one : { ...one, deploy: { ...deploy, ...(one['deploy'] as object) } }
  return { ...file, queues: file.queues.map(withServers) }
}

const examples = readdirSync(docs)
  .filter((name) => name.endsWith('.md') && name !== 'configuration.md')
  .flatMap((name) => {
    const text = readFileSync(new URL(name, docs), 'utf8')
    return Array.from(text.matchAll(/^```yaml\n([\s\S]*?)^```/gm), ({ 1: code = '', index }) => ({
      where: `docs/${name}:${text.slice(0, index).split('\n').length}`,
      code,
    }))
  })

test('the guides contain more than twenty example configurations', () => expect(examples.length).toBeGreaterThan(20))

test.each(examples)('the example in the guide is a valid configuration: $where', async ({ code }) => {
  const text = stringify(fileWith(parse(code) as Fields))
  const faults = await readConfigText(text, { path: 'muster.yaml', outside: false }).then(
    () => [],
    (error: unknown) => (error instanceof InvalidConfig ? [error.message] : Promise.reject(error as Error)),
  )
  expect(faults).toEqual([])
})
