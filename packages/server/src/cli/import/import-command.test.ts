import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { inFolder } from '../in-folder.fixture.js'

const { run, read, file } = inFolder()

/** Imports a configuration. Returns the command's output and the written file. */
async function imported(matchmaker: string, source: unknown, ...more: string[]) {
  await file('theirs.json', typeof source === 'string' ? source : JSON.stringify(source))
  const shown = await run(['import', matchmaker, 'theirs.json', ...more])
  const text = await read('muster.yaml').catch(() => '')
  return { ...shown, text, yaml: parse(text) as Yaml }
}

interface Yaml {
  readonly name: string
  readonly queues: readonly Readonly<Record<string, unknown>>[]
  readonly [section: string]: unknown
}

const size = (team_count: number, min_team_size: number, max_team_size: number) => ({
  type: 'player_count',
  attributes: { team_count, min_team_size, max_team_size },
})
const profileOf = (initial: object, expansions: object = {}) => ({
  ticket_expiration_period: '5m',
  ticket_removal_period: '1m',
  group_inactivity_removal_period: '5m',
  application: { name: 'my-game', version: 'v1' },
  rules: { initial, expansions },
})
const configOf = (profiles: object, more: object = {}) => ({ version: '3.3.2', profiles, ...more })

const ranked = configOf(
  {
    'ranked-2v2': profileOf(
      {
        match_size: size(2, 2, 2),
        beacons: { type: 'latencies', attributes: { difference: 100, max_latency: 200 } },
        elo_rating: { type: 'number_difference', attributes: { max_difference: 50 } },
        selected_game_mode: { type: 'string_equality' },
        selected_map: { type: 'intersection', attributes: { overlap: 1 } },
      },
      {
        '90': { match_size: { min_team_size: 1 } },
        '30': { beacons: { max_latency: 300 }, elo_rating: { max_difference: 150 } },
      },
    ),
  },
  { inspect: true, max_deployment_retry_count: 3, allowed_cors_origins: ['https://*.example.com'] },
)

describe('muster import edgegap', () => {
  test('muster import edgegap writes profiles as queues with teams, rules, steps and attributes', async () => {
    const { code, out, yaml } = await imported('edgegap', ranked)
    expect(code).toBe(0)
    expect(out).toContain('Wrote muster.yaml: one queue; one thing is lost or different')
    expect(yaml).toMatchObject({
      name: 'my-game',
      inspect: true,
      cors: { origins: ['https://*.example.com'] },
      matching: { endedTicketTtlMs: 60_000 },
      limits: { groupIdleMs: 300_000 },
    })
    expect(yaml.queues).toEqual([
      {
        name: 'ranked-2v2',
        teams: [
          {
            name: 'team',
            count: 2,
            size: {
              min: [
                { afterMs: 0, value: 2 },
                { afterMs: 90_000, value: 1 },
              ],
              max: 2,
            },
          },
        ],
        fillForMs: 90_000,
        rules: [
          {
            kind: 'latency',
            maxMs: [
              { afterMs: 0, value: 200 },
              { afterMs: 30_000, value: 300 },
            ],
            maxDifferenceMs: 100,
          },
          {
            kind: 'difference',
            attribute: 'elo_rating',
            max: [
              { afterMs: 0, value: 50 },
              { afterMs: 30_000, value: 150 },
            ],
          },
          { kind: 'equal', attribute: 'selected_game_mode' },
          { kind: 'overlap', attribute: 'selected_map', atLeast: 1 },
        ],
        expireAfterMs: 300_000,
        maxAttempts: 4,
        playerMayState: ['latencies', 'elo_rating', 'selected_game_mode', 'selected_map'],
        deploy: { application: 'my-game', version: 'v1' },
      },
    ])
  })

  test('muster import edgegap reports what is lost, in the terminal and in the file', async () => {
    const initial = {
      match_size: size(2, 1, 4),
      ping: { type: 'latencies', attributes: { max_latency: 200, jitter: 3 } },
      elo: { type: 'number_difference', attributes: { max_difference: 50 } },
      karma: { type: 'number_sum', attributes: {} },
    }
    const expansions = {
      '60': { match_size: { team_count: 1, min_team_size: 2 }, elo: { max_difference: 10 }, nobody: {} },
      '400': { elo: { max_difference: 500 } },
    }
    const { code, err, text, yaml } = await imported(
      'edgegap',
      configOf({ duel: { ...profileOf(initial, expansions), colour: 'red' } }, { theme: 1 }),
    )
    expect(code).toBe(0)
    for (const said of [
      'theme: has no counterpart, and is left out',
      'profiles.duel.colour: has no counterpart, and is left out',
      'profiles.duel.rules.initial.ping.attributes.jitter: has no counterpart',
      'clients send their latencies as the attribute ping: here that is called beacons',
      'the rule karma is of the type number_sum, which has no counterpart',
      'team_count: becomes 1 at 60 s: the number of teams stays 2',
      'min_team_size: becomes stricter at 60 s (2)',
      'smaller matches are made at any time from 60 s on',
      'max_difference: becomes stricter at 60 s (10)',
      'expansions.60.nobody: has no counterpart',
      'expansions.400: begins when tickets have expired',
    ]) {
      expect(err).toContain(said)
      expect(text).toMatch(new RegExp(`^# - .*${escaped(said)}`, 'm'))
    }
    expect(yaml.queues[0]).toMatchObject({ teams: [{ size: { min: 1, max: 4 } }], fillForMs: 60_000 })
  })

  test('muster import edgegap takes the largest of growing team sizes, with the first as the minimum', async () => {
    const profile = profileOf(
      { match_size: size(1, 2, 4) },
      { '20': { match_size: { max_team_size: 8 } }, '60': { match_size: { min_team_size: 1 } } },
    )
    const { code, yaml } = await imported('edgegap', configOf({ party: profile }))
    expect(code).toBe(0)
    expect(yaml.queues[0]).toMatchObject({
      teams: [
        {
          size: {
            min: [
              { afterMs: 0, value: 4 },
              { afterMs: 20_000, value: 2 },
              { afterMs: 60_000, value: 1 },
            ],
            max: 8,
          },
        },
      ],
      fillForMs: 0,
      rules: [
        {
          kind: 'compare',
          aggregate: 'count',
          operator: '<=',
          value: [
            { afterMs: 0, value: 4 },
            { afterMs: 20_000, value: 8 },
          ],
        },
      ],
    })
  })

  test('muster import edgegap replaces an initial value by an expansion at 0 s', async () => {
    const elo = (max_difference: number) => ({ elo: { max_difference } })
    const profile = profileOf(
      { match_size: size(2, 2, 2), elo: { type: 'number_difference', attributes: { max_difference: 90 } } },
      { '0': elo(50), '30': elo(100), '30.0': elo(200) },
    )
    const { code, yaml } = await imported('edgegap', configOf({ duel: profile }))
    expect(code).toBe(0)
    expect(yaml.queues[0]?.['rules']).toMatchObject([
      {
        kind: 'difference',
        max: [
          { afterMs: 0, value: 50 },
          { afterMs: 30_000, value: 200 },
        ],
      },
    ])
  })

  test.each<[what: string, source: unknown, says: string]>([
    ['a file that is not JSON', '{ "token": "hunter2', 'theirs.json: is not JSON: line 1, column 12'],
    ['a list', [], 'the file: must be an object; got []'],
    ['no profiles', {}, 'profiles: must be an object; there is none'],
    ['an empty list of profiles', configOf({}), 'profiles: must hold at least one profile'],
    ['a profile without an application', configOf({ a: {} }), 'profiles.a.application: must be an object'],
    [
      'a size that is a string',
      configOf({ a: profileOf({ s: { type: 'player_count', attributes: { team_count: '2' } } }) }),
      'profiles.a.rules.initial.s.attributes.team_count: must be a number; got "2"',
    ],
    ['two sizes', configOf({ a: profileOf({ s: size(1, 2, 2), t: size(1, 2, 2) }) }), 'one rule of type player_count'],
    [
      'a period without a unit',
      configOf({ a: { ...profileOf({ s: size(1, 2, 2) }), ticket_expiration_period: '300' } }),
      'profiles.a.ticket_expiration_period: must be a period such as 30s',
    ],
    [
      'an expansion at a time that is not a number',
      configOf({ a: profileOf({ s: size(1, 2, 2) }, { soon: {} }) }),
      'profiles.a.rules.expansions: keys must be seconds; got "soon"',
    ],
    [
      'a size larger than any queue',
      configOf({ a: profileOf({ s: size(2, 400, 400) }) }),
      'teams: must take at most 500',
    ],
    ['a name that is too long', configOf({ ['a'.repeat(65)]: profileOf({ s: size(1, 2, 2) }) }), 'queues.0.name'],
    [
      'a member called __proto__',
      '{"profiles": {"a": {"application": {"__proto__": {"name": "x"}}}}}',
      'application.name',
    ],
  ])('muster import edgegap refuses %s with field and value, and writes nothing', async (_, source, says) => {
    const { code, err, text } = await imported('edgegap', source)
    expect([code, text]).toEqual([2, ''])
    expect(err).toContain(says)
    expect(err).not.toContain('hunter2')
  })

  test('muster import edgegap overwrites a file only if requested, and can write to stdout', async () => {
    await file('muster.yaml', 'mine')
    const kept = await imported('edgegap', ranked)
    expect([kept.code, kept.text]).toEqual([1, 'mine'])
    const shown = await imported('edgegap', ranked, '-o', '-')
    expect([shown.code, shown.text]).toEqual([0, 'mine'])
    expect(shown.out).toContain('name: ranked-2v2')
    expect((await imported('edgegap', ranked, '--force')).text).toContain('name: ranked-2v2')
  })

  test('muster import edgegap writes a name with a line break into one comment line, not into the YAML', async () => {
    const { text, yaml } = await imported(
      'edgegap',
      configOf({ a: { ...profileOf({ s: size(1, 2, 2) }), 'x\ny: 1': 0 } }),
    )
    expect(text).toContain('# - profiles.a.x y: 1: has no counterpart')
    expect(Object.keys(yaml)).not.toContain('y')
  })
})

test('muster import does not blame muster.yaml, which it has not written, for what cannot be translated', async () => {
  const source = { Name: 'q', MinMatchSize: 1.5, MaxMatchSize: 2, DifferenceRules: [] }
  const { code, err, text } = await imported('playfab', source)
  expect([code, text]).toEqual([2, ''])
  expect(err).toMatch(/^the translation of theirs\.json:\d+:\d+: error: queues\.0\.teams\.0\.size\.min/)
  expect(err).not.toContain('muster.yaml')
})

test('muster import refuses an unknown matchmaker and lists the known ones', async () => {
  const { code, err } = await imported('gamelift', {})
  expect(code).toBe(2)
  expect(err).toContain('The value must be one of edgegap')
})

function escaped(text: string): string {
  return text.replaceAll(/[.()[\]]/g, String.raw`\$&`)
}
