import { defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { adviceOf } from './queue-advice.js'

const deploy = { application: 'game', version: '1' }
const relaxing: QueueDefinition['rules'] = [
  {
    kind: 'difference',
    attribute: 'skill',
    max: [
      { afterMs: 0, value: 50 },
      { afterMs: 20_000, value: 400 },
    ],
  },
]
const fives: QueueDefinition = {
  name: 'fives',
  teams: [{ name: 'team', count: 2, size: 5 }],
  rules: relaxing,
  deploy,
}
const advice = (more: Partial<QueueDefinition> = {}) => adviceOf(defineQueue({ ...fives, ...more }))

describe('the advice for a queue of teams', () => {
  test('queue advice recommends patience slightly beyond the relaxation, and a later last resort', () => {
    const sentences = advice()
    expect(sentences).toHaveLength(2)
    expect(sentences[0]).toContain('patience: { cost: 2.5, untilMs: 23000 }')
    expect(sentences[1]).toContain('lastResortMs: 92000')
  })

  test('queue advice gives values that the matchmaker accepts, for any expiry of tickets', () => {
    for (const expireAfterMs of [8000, 30_000, 120_000, 3_600_000]) {
      const rules: QueueDefinition['rules'] = [
        { kind: 'difference', attribute: 'skill', max: { from: 50, to: 400, overMs: 120_000 } },
      ]
      const [patience = '', last = ''] = advice({ expireAfterMs, rules })
      const untilMs = Number(/untilMs: (\d+)/.exec(patience)?.[1])
      const lastResortMs = Number(/lastResortMs: (\d+)/.exec(last)?.[1])
      const better = { ...fives, rules, expireAfterMs, patience: { cost: 2.5, untilMs }, lastResortMs }
      expect(adviceOf(defineQueue(better))).toEqual([])
    }
  })

  test('queue advice recommends ten seconds if limits do not relax', () => {
    const rules: QueueDefinition['rules'] = [{ kind: 'difference', attribute: 'skill', max: 100 }]
    expect(advice({ rules })[0]).toContain('untilMs: 10000')
  })

  test('queue advice is empty for pairs, arrival mode, a target wait, or queues without rules', () => {
    expect(advice({ patience: { cost: 1, untilMs: 5000 }, lastResortMs: 60_000 })).toEqual([])
    expect(adviceOf(defineQueue({ name: 'duel', matchSize: 2, rules: relaxing, deploy }))).toEqual([])
    expect(advice({ mode: 'arrival' })).toEqual([])
    expect(advice({ rules: [] })).toEqual([])
    const aiming: QueueDefinition['rules'] = [
      { kind: 'difference', attribute: 'skill', max: { strictest: 50, loosest: 800 } },
    ]
    expect(advice({ rules: aiming, targetWaitMs: 20_000 })).toEqual([])
  })
})
