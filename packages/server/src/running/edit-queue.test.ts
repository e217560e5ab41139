import { describe, expect, test } from 'vitest'
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

test('a value changes, and everything else stays as it was written', () => {
  expect(editQueue(text, 'duel', duel)).toBe(text.replace('max: 100', 'max: 250'))
})

test('the same definition changes nothing', () => {
  expect(editQueue(text, 'duel', duel.replace('250', '100'))).toBe(text)
})

test('parts come and go', () => {
  const shorter = `{ name: duel, matchSize: 4, fillForMs: 2000, deploy: { application: my-game, version: '1.0' } }`
  expect(editQueue(text, 'duel', shorter)).toBe(
    text
      .replace(/    rules:[^]*max: 100\n/, '')
      .replace('matchSize: 2 # always', 'matchSize: 4 # always')
      .replace('{ REGION_KEY: abc }\n', '{ REGION_KEY: abc }\n    fillForMs: 2000\n'),
  )
})

test('variables of servers stay, unless the definition has some', () => {
  expect(editQueue(text, 'duel', duel)).toContain('environment: { REGION_KEY: abc }')
  const withEnv = duel.replace("version: '1.0'", "version: '1.0', environment: { REGION_KEY: xyz }")
  expect(editQueue(text, 'duel', withEnv)).toContain('REGION_KEY: xyz')
})

describe('a change is refused', () => {
  test.each([
    ['of a queue that is not there', 'solo', duel.replace('duel', 'solo'), 'has no queue "solo"'],
    ['of the name', 'duel', duel.replace('duel', 'duels'), 'must be of "duel": a name stays'],
    ['that is no mapping', 'duel', '- 1', 'is no mapping of YAML'],
    ['that is no YAML', 'duel', 'a: [', 'is no mapping of YAML'],
  ])('%s', (_, name, yaml, message) => {
    expect(() => editQueue(text, name, yaml)).toThrow(NotEdited)
    expect(() => editQueue(text, name, yaml)).toThrow(message)
  })

  test('in a file that is no YAML at the moment', () => {
    expect(() => editQueue('queues: [', 'duel', duel)).toThrow('no YAML at the moment')
  })
})
