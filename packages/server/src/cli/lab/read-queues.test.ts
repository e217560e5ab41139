import { describe, expect, test } from 'vitest'
import { type Finding, InvalidConfig } from '../../config/findings.js'
import { templateOf } from '../init.js'
import { readQueues, readQueuesText } from './lab-input.js'

function findingsOf(text: string): readonly Finding[] {
  try {
    readQueuesText(text, 'a.yaml')
    return []
  } catch (error) {
    if (error instanceof InvalidConfig) return error.findings
    throw error
  }
}

const told = (text: string) =>
  findingsOf(text).map(({ line, column, field, message }) => `${line}:${column} ${field}: ${message}`)

describe('queues for the lab', () => {
  test('queues for the lab are read from a whole configuration, regardless of what else it contains', () => {
    const { queues, source } = readQueuesText(templateOf('./muster.schema.json'), 'muster.yaml')
    expect(queues.map(({ name }) => name)).toEqual(['duel', '5v5'])
    expect(queues[0]?.deploy.application).not.toBe('lab')
    expect(source.positionOf(source.placeOf(['queues', '0', 'name'])).line).toBeGreaterThan(1)
    const besides = 'service: { token: hunter2 }\nqueues: [{ name: a, matchSize: 2 }]'
    expect(readQueuesText(besides, 'a.yaml').queues).toHaveLength(1)
  })

  test('queues for the lab are read from a file of queues only, in YAML or JSON, without a server', () => {
    const json = JSON.stringify({ queues: [{ name: 'duel', matchSize: 2 }] }, null, '\t')
    for (const text of [json, 'queues:\n  - name: duel\n    matchSize: 2\n']) {
      const { queues, file } = readQueuesText(text, 'a.yaml')
      expect(file).toBe('a.yaml')
      expect(queues.map(({ name, deploy }) => [name, deploy.application])).toEqual([['duel', 'lab']])
    }
  })
})

test('a lab queue with a pool is read together with the pools of the file', () => {
  const text = [
    "pools: [{ name: arena, deploy: { application: game, version: '1' }, warm: { hit: 0.9 } }]",
    'queues: [{ name: duel, matchSize: 2, pool: arena }]',
  ].join('\n')
  const { queues, pools } = readQueuesText(text, 'a.yaml')
  expect(queues.map(({ name, pool, deploy }) => [name, pool, deploy.application])).toEqual([['duel', 'arena', 'game']])
  expect(pools).toMatchObject([{ name: 'arena', warm: { hit: 0.9, max: 50 } }])
})

test('a lab queue that names a pool missing in its file gets a server for each match', () => {
  const { queues, pools } = readQueuesText('queues: [{ name: duel, matchSize: 2, pool: arena }]', 'a.yaml')
  expect(queues.map(({ name, pool, deploy }) => [name, pool, deploy.application])).toEqual([['duel', undefined, 'lab']])
  expect(pools).toBeUndefined()
})

describe('an invalid file of queues', () => {
  test.each([
    ['', ['1:1 : is empty: it must have queues']],
    ['5', ['1:1 : must be queues: and a list below it']],
    ['- name: duel', ['1:1 : must be queues: and a list below it']],
    ['name: x\nqeues: []', ['2:1 qeues: is not known; did you mean queues?']],
    ['name: x', ['1:1 : has no queues']],
    ['queues: []', ['1:9 queues: must not be empty']],
    ['queues:', ['1:1 queues: is empty: write a list of queues below it']],
    ['queues: {}', ['1:9 queues: must be a list']],
    ['queues: [5]', ['1:10 queues.0: must be names with values, got 5']],
    [
      'queues:\n  - name: duel\n    matchsize: 2\n  - name: duel\n    matchSize: 0\n    deploi: {}',
      [
        '3:5 queues.0.matchsize: is not known; did you mean matchSize?',
        '4:11 queues.1.name: is the name of queues.0 too',
        '5:16 queues.1.matchSize: must be at least 1, got 0',
        '6:5 queues.1.deploi: is not known; did you mean deploy?',
      ],
    ],
    [
      'pools: []\nqueues: [{ name: duel, matchSize: 2, pool: arena }]',
      ['2:44 queues.0.pool: there is no such pool, got "arena"'],
    ],
    [
      'pools:\n  - { name: arena, deploy: {} }\nqueues: [{ name: duel, matchSize: 2, pool: arena }]',
      ['2:20 pools.0.deploy.application: is missing', '2:20 pools.0.deploy.version: is missing'],
    ],
    ['queues: [', ['1:10 : has a [ without its ]']],
    ['queues:\n  - &a [*a]', ['2:9 queues.0.0: is an alias of a value that contains it']],
  ])('an invalid file of lab queues is refused with each place: %j', (text, says) => {
    expect(told(text)).toEqual(says)
  })

  test('an invalid file of lab queues is refused without showing a secret next to the queues', () => {
    const [finding] = findingsOf('service: { token: hunter2 }\nqueues: [{ name: a, matchSize: 2, hunter2: hunter2 }]')
    expect(finding?.excerpt).not.toContain('hunter2 }')
    expect(finding?.message).not.toContain('hunter2')
  })

  test('a missing file of lab queues is refused', async () => {
    await expect(readQueues('nowhere.yaml', '/')).rejects.toThrow('nowhere.yaml: does not exist')
  })
})
