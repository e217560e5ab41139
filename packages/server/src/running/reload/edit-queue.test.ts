import { defineQueue } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { editQueue, NotEdited } from './edit-queue.js'

const text = `# The game.
name: my-game # short

queues:
  # Two players.
  - name: duel
    matchSize: 2 # always
    rules:
      # Near each other.
      - { kind: distance, maxKm: 500 }
      - kind: difference
        attribute: skill # of the backend
        max: 100
    deploy:
      application: my-game
      version: '1.0'
      environment: { REGION_KEY: abc }

  - name: ranked # the other
    matchSize: 10
    deploy: { application: my-game, version: '2.0' }
`

const duel = `
name: duel
matchSize: 2
rules:
  - { kind: distance, maxKm: 500 }
  - { kind: difference, attribute: skill, max: 250 }
deploy: { application: my-game, version: '1.0' }
`

test('an edit of a queue changes a value, and the rest of the file stays as it was written', () => {
  expect(editQueue(text, 'duel', duel)).toBe(text.replace('max: 100', 'max: 250'))
})

test('an edit of a queue to the same definition changes nothing', () => {
  expect(editQueue(text, 'duel', duel.replace('250', '100'))).toBe(text)
})

test('an edit of a queue does not write out unedited defaults', () => {
  const inForce = {
    name: 'duel',
    matchSize: 2,
    tickMs: 250,
    lastResortMs: Infinity,
    rules: [
      { kind: 'distance', maxKm: 500, weight: 1 },
      { kind: 'difference', attribute: 'skill', max: 100, weight: 1 },
    ],
    deploy: { application: 'my-game', version: '1.0', requireCachedLocations: false, timeoutMs: 60_000 },
  }
  const shown = (max: number, timeoutMs: number) => `
name: duel
matchSize: 2
tickMs: 250
lastResortMs: .inf
rules:
  - { kind: distance, maxKm: 500, weight: 1 }
  - { kind: difference, attribute: skill, max: ${max}, weight: 1 }
deploy: { application: my-game, version: '1.0', requireCachedLocations: false, timeoutMs: ${timeoutMs} }
`
  expect(editQueue(text, 'duel', shown(250, 60_000), inForce)).toBe(text.replace('max: 100', 'max: 250'))
  const edited = editQueue(text, 'duel', shown(100, 90_000), inForce)
  expect(edited).toContain('timeoutMs: 90000')
  expect(edited).not.toMatch(/tickMs|weight|requireCached|lastResort/)
})

test('an edit of a queue adds and removes parts', () => {
  const shorter = `{ name: duel, matchSize: 4, fillForMs: 2000, deploy: { application: my-game, version: '1.0' } }`
  expect(editQueue(text, 'duel', shorter)).toBe(
    text
      .replace(/    rules:[^]*max: 100\n/, '')
      .replace('matchSize: 2 # always', 'matchSize: 4 # always')
      .replace('{ REGION_KEY: abc }\n', '{ REGION_KEY: abc }\n    fillForMs: 2000\n'),
  )
})

test('an edit of a queue keeps variables of servers, unless the definition has some', () => {
  expect(editQueue(text, 'duel', duel)).toContain('environment: { REGION_KEY: abc }')
  const withEnv = duel.replace("version: '1.0'", "version: '1.0', environment: { REGION_KEY: xyz }")
  expect(editQueue(text, 'duel', withEnv)).toContain('REGION_KEY: xyz')
})

describe('parts of a queue that the console does not show', () => {
  const deploy = "{ application: my-game, version: '1.0', environment: { KEY: abc }, probe: { kind: udp, port: game } }"
  const withPayload = deploy.replace('port: game', "port: game, payload: 'AAEC'")
  const definition = (text: string) => defineQueue(parseDocument(text, { merge: true }).toJS().queues.at(-1))
  /** Edits only the rules of the last queue, as the console does: its page never receives variables and payloads. */
  const editRules = (text: string) => {
    const inForce = definition(text)
    const { environment: _, hiddenEnvironment: __, probe, ...others } = inForce.deploy
    const { payload: ___, ...shown } = probe as { readonly payload?: string }
    const page = { ...inForce, rules: [{ kind: 'avoid' }], deploy: { ...others, probe: shown } }
    return editQueue(text, inForce.name, JSON.stringify(page), inForce)
  }

  test.each([
    ['written in the queue', `queues: [{ name: duel, matchSize: 2, deploy: ${withPayload} }]`],
    ['merged into deploy', `base: &base ${withPayload}\nqueues: [{ name: duel, matchSize: 2, deploy: { <<: *base } }]`],
    ['shared by an alias', `base: &base ${withPayload}\nqueues: [{ name: duel, matchSize: 2, deploy: *base }]`],
    [
      'merged into the queue',
      `base: &base { deploy: ${withPayload} }\nqueues: [{ <<: *base, name: duel, matchSize: 2 }]`,
    ],
  ])('an edit of rules keeps variables and the probe of servers that are %s', (_, text) => {
    const edited = definition(editRules(text))
    expect(edited.rules).toHaveLength(1)
    expect(edited.deploy).toEqual(definition(text).deploy)
  })

  test('an edit of rules leaves matchSize as it is written', () => {
    const text = `queues: [{ name: duel, matchSize: 2, deploy: ${withPayload} }]`
    expect(editRules(text)).toContain('matchSize: 2')
    expect(editRules(text)).not.toContain('teams')
  })

  test('an edit of rules leaves the deploy that queues share as it is written', () => {
    const text = `queues:
  - { name: trio, matchSize: 3, deploy: &base ${withPayload} }
  - name: duel
    matchSize: 2
    deploy: *base # of trio
`
    expect(editRules(text)).toContain('deploy: *base # of trio')
  })
})

describe('an edit of numbers and inline lists', () => {
  const odd = `queues:
- name: duel   # two
  matchSize:   2
  rules:
  - {kind: difference,attribute: skill,max: [{afterMs: 0, value: 50}, {afterMs: 9000, value: .inf}]}   # skill
  -   kind: distance
      # Far in the end.
      maxKm:
      - afterMs: 0
        value: 10    # near
      - afterMs: 5000
        value: 2e3
  deploy: {application: "my-game",version: '1.0'}
`
  const changed = (rule: object, maxKm: unknown) =>
    JSON.stringify({
      name: 'duel',
      matchSize: 2,
      rules: [
        { kind: 'difference', attribute: 'skill', ...rule },
        { kind: 'distance', maxKm },
      ],
      deploy: { application: 'my-game', version: '1.0' },
    }).replaceAll('null', '.inf')
  const far = [
    { afterMs: 0, value: 10 },
    { afterMs: 5000, value: 2000 },
  ]
  const [first, last] = [
    { afterMs: 0, value: 50 },
    { afterMs: 9000, value: Infinity },
  ]

  test.each([
    ['the same value', { max: [first, last] }, far, [/^/, '']],
    ['a number in brackets', { max: [{ ...first, value: 70 }, last] }, far, ['value: 50', 'value: 70']],
    ['a number of a block', { max: [first, last] }, [{ afterMs: 0, value: 12 }, far[1]], ['value: 10', 'value: 12']],
    ['a removed limit', { max: [first, { ...last, value: 90 }] }, far, ['.inf', '90']],
    ['fewer steps', { max: [first] }, far, [', {afterMs: 9000, value: .inf}', '']],
    ['a number for steps', { max: 60 }, far, [/max: \[.*\]/, 'max: 60']],
  ] as const)('an edit of a queue changes numbers and inline lists in place: %s', (_, rule, maxKm, [before, after]) => {
    expect(editQueue(odd, 'duel', changed(rule, maxKm))).toBe(odd.replace(before, after))
  })

  test('an edit of a queue keeps JSON as JSON', () => {
    const queue = (max: unknown) => ({
      queues: [{ name: 'duel', matchSize: 2, rules: [{ kind: 'difference', attribute: 'skill', max }] }],
    })
    const steps = [{ afterMs: 0, value: 5 }, ...[9000, 12_000].map((afterMs) => ({ afterMs, value: afterMs }))]
    const text = JSON.stringify(queue(steps))
    const edited = editQueue(text, 'duel', JSON.stringify(queue(steps.slice(0, 2)).queues[0]))
    expect(edited).toBe(JSON.stringify(queue(steps.slice(0, 2))))
  })

  test('an edit of a queue that removes a step removes the step’s comments, and keeps other steps', () => {
    const edited = editQueue(odd, 'duel', changed({ max: [first, last] }, [far[0]]))
    expect(edited).toContain('value: 10 # near')
    expect(edited).toContain('# Far in the end.')
    expect(edited).not.toContain('5000')
  })
})

describe('an edit of parts that queues share', () => {
  const shared = (rules: string, others = '*rules') => `queues:
  - { name: duel, matchSize: 2, rules: ${rules} }
  - { name: trio, matchSize: 3, rules: ${others} }
`
  const edit = (name: string, matchSize: number, rules: string) =>
    `{ name: ${name}, matchSize: ${matchSize}, rules: ${rules} }`
  const skill = (max: number) => `[{ kind: difference, attribute: skill, max: ${max} }]`

  test.each([
    ['a list', shared(`&rules ${skill(100)}`)],
    ['a number', shared(skill(100).replace('100', '&most 100'), skill(100).replace('100', '*most'))],
  ])('an edit of a queue is refused for %s that other queues use', (_, text) => {
    expect(() => editQueue(text, 'duel', edit('duel', 2, skill(200)))).toThrow('shares parts with others')
  })

  test('an edit of a queue that aliases a YAML part of another queue gives the edited queue its own copy', () => {
    const text = shared(`&rules ${skill(100)}`)
    const edited = parseDocument(editQueue(text, 'trio', edit('trio', 3, skill(200)))).toJS() as unknown
    expect(edited).toEqual(parseDocument(shared(skill(100), skill(200))).toJS())
  })
})

describe('an edit that cannot be made', () => {
  test.each([
    ['of an unknown queue', 'solo', duel.replace('duel', 'solo'), 'has no queue "solo"'],
    ['of the queue name', 'duel', duel.replace('duel', 'duels'), 'must keep the name "duel"'],
    ['that is not a mapping', 'duel', '- 1', 'must be a YAML mapping'],
    ['that is not YAML', 'duel', 'a: [', 'must be a YAML mapping'],
  ])('an edit of a queue is refused if the edit is %s', (_, name, yaml, message) => {
    expect(() => editQueue(text, name, yaml)).toThrow(NotEdited)
    expect(() => editQueue(text, name, yaml)).toThrow(message)
  })

  test('an edit of a queue is refused if the file is not valid YAML at the moment', () => {
    expect(() => editQueue('queues: [', 'duel', duel)).toThrow('not valid YAML now')
  })
})
