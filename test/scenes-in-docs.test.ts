/** Examples in docs that are whole scene files must pass. */
import { readdirSync, readFileSync } from 'node:fs'
import { checkScenes, runScenes } from '@muster/lab'
import { defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const docs = new URL('../docs/', import.meta.url)
const examples = readdirSync(docs)
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) =>
    readFileSync(new URL(name, docs), 'utf8')
      .split(/^## /m)
      .flatMap((section) =>
        Array.from(section.matchAll(/^```yaml\n(queues:\n[\s\S]*?^scenes:\n[\s\S]*?)^```/gm), ([, code = '']) => ({
          where: `docs/${name}, ${section.slice(0, section.indexOf('\n'))}`,
          code,
        })),
      ),
  )

test('the docs have scenes for other matchmakers and genres', () => {
  expect(examples.length).toBeGreaterThanOrEqual(6)
})

test.each(examples)('the scenes in the docs pass: $where', async ({ code }) => {
  const { queues, ...file } = parse(code) as { readonly queues: readonly QueueDefinition[] }
  const deploy = { application: 'game', version: '1' }
  const { scenes, faults } = checkScenes(
    file,
    queues.map((queue) => defineQueue({ deploy, ...queue } as QueueDefinition)),
  )
  expect(faults).toEqual([])
  const results = await runScenes(scenes)
  expect(results.length).toBeGreaterThan(0)
  expect(results.flatMap(({ name, failures }) => failures.map(({ instead }) => `${name}: ${instead}`))).toEqual([])
})
