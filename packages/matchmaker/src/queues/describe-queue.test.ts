import { describe, expect, test } from 'vitest'
import { defineQueue, type QueueDefinition } from './queue.js'
import type { RuleDefinition } from './rules/definition.js'
import { describeQueue } from './describe-queue.js'

const deploy = { application: 'game', version: '1' }
const steps = (...pairs: readonly (readonly [afterMs: number, value: number])[]) =>
  pairs.map(([afterMs, value]) => ({ afterMs, value }))

const sentencesOf = (definition: Omit<QueueDefinition, 'name' | 'deploy'> & { readonly deploy?: object }) =>
  describeQueue(defineQueue({ name: 'queue', deploy, ...definition } as QueueDefinition)).sentences

/** Sentences with which the description of every queue with these settings ends. */
const USUAL = [
  'A ticket that finds no match within 5 min is cancelled.',
  'Free places in running matches are filled before new matches are made.',
  'Every match gets a server of game, version 1; it must be ready within 3 min.',
  'A match lasts 24 h at most.',
  'A ticket is cancelled after three failed servers.',
]

test('the description of a queue with a pool promises no create of a server', () => {
  expect(sentencesOf({ matchSize: 2, pool: 'arena' })).toContain(
    'A match takes a warm server of pool arena (game, version 1); if one is created for it, that must be ready ' +
      'within 3 min.',
  )
})

test('the description of a queue whose pool only has enrolled servers contains no create of servers', () => {
  const enrolled = { application: 'arena', version: 'enrolled', probe: { kind: 'registration' } }
  const sentences = sentencesOf({ matchSize: 2, pool: 'arena', deploy: enrolled })
  expect(sentences).toContain('A match takes a server of pool arena; all servers of this pool enrol by themselves.')
})

describe('the description of a realistic queue in sentences', () => {
  test('a queue without rules is described by the match size and the default times', () => {
    expect(sentencesOf({ matchSize: 2 })).toEqual(['A match has two players.', ...USUAL])
  })

  test('a queue of two teams with limits that relax, balance and acceptance is described in sentences', () => {
    const sentences = sentencesOf({
      teams: [{ name: 'team', count: 2, size: 5 }],
      rules: [
        { kind: 'distance', maxKm: steps([0, 500], [10_000, 2000], [60_000, Infinity]) },
        {
          kind: 'difference',
          attribute: 'skill',
          max: { from: 100, to: 400, startMs: 5000, overMs: 30_000 },
          by: 'oldest',
          optionalAfterMs: 90_000,
        },
        { kind: 'balance', attribute: 'skill', max: 50, hard: true },
        { kind: 'avoid', hard: true },
      ],
      lastResortMs: 120_000,
      acceptance: { withinMs: 15_000 },
    })
    expect(sentences).toEqual([
      'Two teams of five players.',
      'Players meet within 500 km at first, 2,000 km after 10 s, anywhere after 60 s; players whose place is unknown ' +
        'meet only players of the same network.',
      'Players differ in skill by at most 100 at first, growing evenly to 400 between 5 s and 35 s; this no longer ' +
        'counts after 90 s, by the wait of the oldest ticket of the match.',
      'The teams differ in average skill by at most 50, and are made as even as can be.',
      'No player meets anyone on their avoid list, nor anyone whose list they are on.',
      'After 2 min a ticket takes the best match there is: only balance skill and avoid still count, at their loosest.',
      'A ticket that finds no match within 5 min is cancelled.',
      'All players must accept a match within 15 s; otherwise the match is dissolved, and those who did search again.',
      'Players who decline a match or do not accept it in time may not wait again for 30 s, twice as long each ' +
        'further time, 15 min at most; one time is forgiven every 60 min after that.',
      ...USUAL.slice(1),
    ])
  })

  test('a queue of one monster against two teams of hunters whose minimum falls is described in sentences', () => {
    const sentences = sentencesOf({
      teams: [
        { name: 'monster', size: 1 },
        { name: 'hunters', count: 2, size: { min: steps([0, 4], [20_000, 3], [40_000, 2]), max: 4 } },
      ],
      fillForMs: 10_000,
      mode: 'arrival',
      acceptance: { withinMs: 8000, replace: true },
      replaceLeavers: true,
      backfill: 'last',
    })
    expect(sentences).toEqual([
      'A match has one team monster of one player and two teams hunters of up to four players.',
      'Each team hunters has at least four players at first, three after 20 s, two after 40 s.',
      'Smaller teams are enough once the oldest ticket has waited 10 s for full ones.',
      'Matches are made whenever a ticket arrives.',
      'A ticket that finds no match within 5 min is cancelled.',
      'All players must accept a match within 8 s; those who do not are replaced.',
      'Players who decline a match or do not accept it in time may not wait again for 30 s, twice as long each ' +
        'further time, 15 min at most; one time is forgiven every 60 min after that.',
      'Players who leave while the server starts are replaced.',
      'New matches are made before free places in running matches are filled.',
      ...USUAL.slice(2),
    ])
  })

  test('a queue of twenty squads whose minimum falls to one player is described in sentences', () => {
    const squad = { name: 'squad', count: 20, size: { min: { from: 3, to: 1, overMs: 60_000 }, max: 3 } }
    expect(sentencesOf({ teams: [squad], lastResortMs: 100_000 })).toEqual([
      '20 teams of up to three players.',
      'Each team has at least three players at first, falling evenly to one over 60 s.',
      'Smaller teams are enough once the oldest ticket has waited 5 s for full ones.',
      'After 100 s a ticket takes the best match there is: no rule counts any more.',
      ...USUAL,
    ])
  })

  test('a queue whose match or teams may vary in size is described in sentences', () => {
    expect(sentencesOf({ teams: [{ name: 'all', size: { min: 2, max: 16 } }], fillForMs: 0 })).toEqual([
      'A match has 2 to 16 players.',
      ...USUAL,
    ])
    expect(sentencesOf({ teams: [{ name: 'team', count: 3, size: { min: 3, max: 5 } }] })[0]).toBe(
      'Three teams of three to five players.',
    )
    expect(sentencesOf({ teams: [{ name: 'room', size: { min: steps([0, 8], [30_000, 4]), max: 8 } }] })[1]).toBe(
      'It has at least eight players at first, four after 30 s.',
    )
  })

  test('a queue with server probes, presence and attributes that players may set is described in sentences', () => {
    const probed = sentencesOf({
      matchSize: 2,
      expireAfterMs: 90_000,
      presence: { withinMs: 30_000 },
      maxAttempts: 1,
      playersMayWaitTwice: true,
      playersMayWaitWhilePlaying: true,
      playerMayState: ['maps', 'roles', 'avoid'],
      deploy: {
        application: 'game',
        version: '1.2',
        environment: { MODE: 'hidden-value' },
        hiddenEnvironment: { KEY: 'hidden-value' },
        requireCachedLocations: true,
        readyTimeoutMs: 45_500,
        warmUpMs: 250,
        maxDurationMs: 5_400_000,
        joinWithinMs: 120_000,
        probe: { kind: 'udp', port: 'gameport' },
      },
    })
    expect(probed.slice(1)).toEqual([
      'A ticket that finds no match within 90 s is cancelled.',
      "A ticket is cancelled when a player's client is away for 30 s.",
      'A player may wait in several tickets at once.',
      'A player may wait while playing.',
      'Players may state their own maps, roles and avoid list; all else comes from the token, the profile or a ' +
        'backend.',
      'Free places in running matches are filled before new matches are made.',
      'Every match gets a server of game, version 1.2, where its image is cached if there is room; it must be ready ' +
        'within 45.5 s, has 250 ms to warm up, and must answer on its UDP port gameport within 30 s.',
      'A match lasts 90 min at most.',
      'A match to which nobody comes within 2 min ends.',
      'A ticket is cancelled after one failed server.',
    ])
    const registered = sentencesOf({
      matchSize: 2,
      playerMayState: [],
      deploy: { ...deploy, probe: { kind: 'registration' } },
    })
    expect(registered[2]).toBe(
      'Players may state nothing about themselves; all else comes from the token, the profile or a backend.',
    )
    expect(registered[4]).toBe(
      'Every match gets a server of game, version 1; it must be ready within 3 min, and must register itself ' +
        'within 60 s.',
    )
  })
})

test('the description of a queue states for what a cooldown starts, how long it lasts and how it decays', () => {
  expect(sentencesOf({ matchSize: 2, cooldown: {} })[2]).toBe(
    'Players who decline a match, do not accept it in time or leave a match before its server runs may not ' +
      'wait again for 30 s, twice as long each further time, 15 min at most; one time is forgiven every 60 min after ' +
      'that.',
  )
  const cooldown = { name: 'ranked', firstMs: 5000, factor: 1, for: ['left' as const], forgiveAfterMs: 86_400_000 }
  expect(sentencesOf({ matchSize: 2, cooldown })[2]).toBe(
    'Players who leave a match before its server runs may not wait again for 5 s; one time is forgiven every 24 h ' +
      'after that; this counts in all queues of the cooldown ranked.',
  )
})

describe('the description of a queue with a target wait', () => {
  const rules: RuleDefinition[] = [
    { kind: 'difference', attribute: 'skill', max: { strictest: 50, loosest: 800 } },
    { kind: 'distance', maxKm: 500 },
  ]
  const queue = defineQueue({ name: 'queue', matchSize: 2, rules, targetWaitMs: 24_000, lastResortMs: 130_000, deploy })

  test('a described target wait names the limits that follow it, and their bounds', () => {
    expect(describeQueue(queue).sentences.slice(1, 4)).toEqual([
      'Players differ in skill by at most 50 at the strictest, 800 at the loosest.',
      'Players meet within 500 km; players whose place is unknown meet only players of the same network.',
      'Limits follow how many suitable players come, region by region, so that nine of ten tickets find a match ' +
        'within 24 s: they begin between their strictest and their loosest, and relax while a ticket waits.',
    ])
  })

  test.each([
    [0, 26, [0, 50], [5000, 56.12], [10_000, 63]],
    [-6000, 26, [0, 50], [11_000, 56.12], [16_000, 63]],
    [110_000, 4, [0, 634.96], [5000, 712.72], [10_000, 800]],
    [500_000, 2, [0, 800], [130_000, null], undefined],
  ] as const)(
    'the description of a target wait gives the limits over time for a relaxation head start of %d ms',
    (headStartMs, steps, ...first) => {
      const [skill, distance] = describeQueue(queue, headStartMs).curves
      const points = skill?.points.map(({ after, limit }) => [after, limit && Math.round(100 * limit) / 100])
      expect([points?.[0], points?.[1], points?.[2]]).toEqual(first)
      expect(points).toHaveLength(steps)
      expect(points?.at(-1)).toEqual([130_000, null])
      expect([skill?.adapts, distance?.adapts]).toEqual([true, undefined])
    },
  )

  test.each([-24_000, -10_000, 0, 30_000])(
    'the description of a target wait orders its limits by time for a relaxation head start of %d ms',
    (headStartMs) => {
      for (const { points } of describeQueue(queue, headStartMs).curves) {
        const starts = points.map(({ after }) => after)
        expect(starts).toEqual(starts.toSorted((one, other) => one - other))
        expect(starts.at(-1)).toBeLessThanOrEqual(130_000)
      }
    },
  )
})

test('every field of a queue has a description or is listed as undescribed in this test', () => {
  const queue = defineQueue({ name: 'queue', matchSize: 2, deploy })
  expect(Object.keys(queue)).toEqual([
    'name',
    'teams',
    'rules',
    'fillForMs',
    'lastResortMs',
    'targetWaitMs',
    'prefer',
    'patience',
    'expireAfterMs',
    'maxAttempts',
    'playersMayWaitTwice',
    'playersMayWaitWhilePlaying',
    'playerMayState',
    'backfill',
    'presence',
    'acceptance',
    'replaceLeavers',
    'cooldown',
    'mode',
    'deploy',
    'pool',
  ])
})

test('the description of a queue states the weights of `prefer`, and until when `patience` holds matches back', () => {
  const rules = [{ kind: 'difference', attribute: 'skill', max: 50 }] as const
  const queue = { matchSize: 2, rules, prefer: { skill: 2, waiting: 0.5 }, patience: { cost: 2.5, untilMs: 20_000 } }
  const sentences = sentencesOf(queue)
  expect(sentences).toContain('Members of a match are chosen by skill with weight 2 and waiting with weight 0.5.')
  expect(sentences).toContain(
    'Until its oldest ticket has waited 20 s, a match is held back for a cheaper one: it may cost 2.5 in the end, ' +
      'and proportionally less before; matches that are hard to find are looked for after 40 s.',
  )
  // The search begins well before tickets expire, so that none expires while waiting for a better match.
  expect(sentencesOf({ ...queue, expireAfterMs: 40_000 }).join(' ')).toContain('are looked for after 30 s.')
})

test('the description of a queue contains no value of a variable', () => {
  const secret = { SECRET: 'hunter2' }
  const sentences = sentencesOf({ matchSize: 2, deploy: { ...deploy, environment: secret, hiddenEnvironment: secret } })
  expect(sentences.join(' ')).not.toMatch(/hunter2|SECRET/)
})
