/** Runs scenes that operators of matchmakers reported in public. Each file is one case, named by what should hold. */
import { readdirSync, readFileSync } from 'node:fs'
import { checkScenes, runScenes } from '@muster/lab'
import { defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const folder = new URL('./', import.meta.url)
const cases = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
const deploy = { application: 'game', version: '1' }

test.each(cases.map((name) => [name.replace('.yaml', '').replaceAll('-', ' '), name] as const))(
  'the scene of another matchmaker passes: %s',
  async (_, name) => {
    const { queues, ...file } = parse(readFileSync(new URL(name, folder), 'utf8')) as {
      readonly queues: readonly QueueDefinition[]
    }
    const { scenes, faults } = checkScenes(
      file,
      queues.map((queue) => defineQueue({ deploy, ...queue } as QueueDefinition)),
    )
    expect(faults).toEqual([])
    const results = await runScenes(scenes)
    expect(
      results.flatMap(({ name: scene, failures }) => failures.map(({ instead }) => `${scene}: ${instead}`)),
    ).toEqual([])
  },
)
