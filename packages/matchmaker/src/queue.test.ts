import { InvalidInput } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { InvalidQueue } from './errors.js'
import { defineQueue, type QueueDefinition } from './queue.js'

const deploy = { application: 'game', version: '1' }
const duel: QueueDefinition = { name: 'duel', matchSize: 2, deploy }

test('fills in the defaults, also twice, and from JSON', () => {
  const queue = defineQueue(duel)
  expect(queue).toEqual({
    name: 'duel',
    matchSize: 2,
    distance: [{ afterMs: 0, km: 'any' }],
    expireAfterMs: 300_000,
    maxAttempts: 3,
    deploy: {
      ...deploy,
      environment: {},
      hiddenEnvironment: {},
      tags: [],
      requireCachedLocations: false,
      readyTimeoutMs: 180_000,
    },
  })
  expect(defineQueue(queue)).toEqual(queue)
  expect(defineQueue(JSON.parse(JSON.stringify(queue)) as QueueDefinition)).toEqual(queue)
})

describe('refuses, and names the queue, the path and the value', () => {
  test.each<[unknown, string]>([
    [{ ...duel, matchSize: 0 }, 'queue "duel": matchSize: '],
    [{ ...duel, matchSize: 501 }, ', got 501'],
    [{ ...duel, name: '' }, 'queue "": name: '],
    [{ ...duel, maxAttempts: 0.5 }, 'maxAttempts: '],
    [{ ...duel, expireAfterMs: -1 }, 'expireAfterMs: '],
    [{ ...duel, size: 2 }, 'queue "duel": size: is not known'],
    [{ ...duel, deploy: { ...deploy, application: '' } }, 'deploy.application: '],
    [{ ...duel, deploy: { ...deploy, region: 'eu' } }, 'deploy.region: is not known'],
    [{ name: 'duel', matchSize: 2 }, 'deploy: '],
    [{ ...duel, distance: [] }, 'distance: '],
    [{ ...duel, distance: [{ afterMs: 5, km: 1 }] }, 'distance.0.afterMs: must be 0 in the first step, got 5'],
    [{ ...duel, distance: [{ afterMs: 0, km: 0 }] }, "distance.0.km: must be a number above 0 or 'any', got 0"],
    [
      {
        ...duel,
        distance: [
          { afterMs: 0, km: 9 },
          { afterMs: 0, km: 10 },
        ],
      },
      'distance.1.afterMs: must be more than 0, that of the step before, got 0',
    ],
    [
      {
        ...duel,
        distance: [
          { afterMs: 0, km: 9 },
          { afterMs: 1, km: 9 },
        ],
      },
      'distance.1.km: must be more than 9, that of the step before, got 9',
    ],
    [
      {
        ...duel,
        distance: [
          { afterMs: 0, km: 'any' },
          { afterMs: 1, km: 9 },
        ],
      },
      'distance.1.km: must be more than any',
    ],
    [{ ...duel, deploy: { ...deploy, tags: ['x'.repeat(41)] } }, 'deploy.tags.0: '],
    [
      { ...duel, deploy: { ...deploy, tags: ['match-1'] } },
      'deploy.tags.0: tags beginning with mm- and match- are set by the matchmaker, got "match-1"',
    ],
    [
      { ...duel, deploy: { ...deploy, environment: { MM_MATCH_ID: 'x' } } },
      'deploy.environment.MM_MATCH_ID: names beginning with MM_',
    ],
    [{ ...duel, deploy: { ...deploy, environment: { 'A-B': 'x' } } }, 'deploy.environment.A-B: '],
    [null, 'queue: '],
    ['duel', 'queue: '],
  ])('%j', (definition, message) => {
    const define = () => defineQueue(definition as QueueDefinition)
    expect(define).toThrow(InvalidQueue)
    expect(define).toThrow(InvalidInput)
    expect(define).toThrow(message)
  })

  test('a value that may be a secret is not repeated', () => {
    const hiddenEnvironment = { KEY: 'swordfish'.repeat(500) }
    const define = () => defineQueue({ ...duel, deploy: { ...deploy, hiddenEnvironment } })
    expect(define).toThrow('deploy.hiddenEnvironment.KEY: must be at most 4096 bytes of UTF-8')
    expect(define).not.toThrow('swordfish')
  })

  test('the field is on the error too', () => {
    expect(() => defineQueue({ ...duel, matchSize: 0 })).toThrow(
      expect.objectContaining({ field: 'matchSize', name: 'InvalidQueue' }),
    )
  })
})
