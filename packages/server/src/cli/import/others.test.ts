import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { inFolder } from '../in-folder.fixture.js'
import { importEdgegap } from './edgegap.js'
import { importFlexMatch } from './flexmatch.js'
import { importPlayFab } from './playfab.js'
import { UnfitSource } from './source-file.js'
import { importUnity } from './unity.js'

const { run, read, file } = inFolder()

/** Imports a configuration that `muster check` must accept. Returns its queues and the output. */
async function queuesOf(matchmaker: string, source: object) {
  await file('theirs.json', JSON.stringify(source))
  const { code, out, err } = await run(['import', matchmaker, 'theirs.json'])
  expect([code, out]).toEqual([0, expect.stringContaining('Wrote muster.yaml')])
  const { queues } = parse(await read('muster.yaml')) as { readonly queues: object[] }
  return { queues, said: out + err }
}

const step = (seconds: number, value: number) => ({ afterMs: seconds * 1000, value })

test('muster import converts a FlexMatch rule set to a queue', async () => {
  const { queues, said } = await queuesOf('flexmatch', {
    name: 'hunt',
    ruleLanguageVersion: '1.0',
    playerAttributes: [{ name: 'skill', type: 'number', default: 10 }],
    algorithm: { strategy: 'exhaustiveSearch' },
    teams: [
      { name: 'hunters', minPlayers: 4, maxPlayers: 5 },
      { name: 'monster', minPlayers: 1, maxPlayers: 1 },
    ],
    rules: [
      {
        name: 'fair',
        type: 'distance',
        measurements: ['avg(teams[*].players.attributes[skill])'],
        referenceValue: 'avg(flatten(teams[*].players.attributes[skill]))',
        maxDistance: 10,
      },
      { name: 'fast', type: 'latency', maxLatency: 100 },
      {
        name: 'maps',
        type: 'collection',
        operation: 'intersection',
        measurements: ['flatten(teams[*].players.attributes[maps])'],
        minCount: 2,
      },
      {
        name: 'more hunters',
        type: 'comparison',
        measurements: ['count(teams[hunters].players)'],
        referenceValue: 'count(teams[monster].players)',
        operation: '>',
      },
      {
        name: 'mode',
        type: 'comparison',
        measurements: ['flatten(teams[*].players.attributes[mode])'],
        operation: '=',
      },
      { name: 'near', type: 'batchDistance', batchAttribute: 'level', maxDistance: 3, partyAggregation: 'max' },
      { name: 'sorted', type: 'absoluteSort', sortDirection: 'ascending', sortAttribute: 'skill' },
    ],
    expansions: [
      { target: 'rules[fast].maxLatency', steps: [{ waitTimeSeconds: 10, value: 200 }] },
      { target: 'teams[hunters].minPlayers', steps: [{ waitTimeSeconds: 20, value: 2 }] },
      { target: 'rules[sorted].sortDirection', steps: [{ waitTimeSeconds: 20, value: 'descending' }] },
    ],
  })
  expect(queues).toEqual([
    {
      name: 'hunt',
      teams: [
        { name: 'hunters', count: 1, size: { min: [step(0, 4), step(20, 2)], max: 5 } },
        { name: 'monster', count: 1, size: 1 },
      ],
      fillForMs: 0,
      rules: [
        { kind: 'balance', name: 'fair', attribute: 'skill', max: 10, missing: { value: 10 } },
        { kind: 'latency', name: 'fast', maxMs: [step(0, 100), step(10, 200)] },
        { kind: 'overlap', name: 'maps', attribute: 'maps', atLeast: 2 },
        {
          kind: 'compare',
          name: 'more hunters',
          aggregate: 'count',
          team: 'hunters',
          operator: '>',
          otherTeam: 'monster',
        },
        { kind: 'equal', name: 'mode', attribute: 'mode' },
        { kind: 'difference', name: 'near', attribute: 'level', max: 3, party: 'max' },
      ],
      playerMayState: ['skill', 'latencies', 'maps', 'mode', 'level'],
      deploy: { application: 'my-game', version: '1' },
    },
  ])
  for (const what of ['the rule sorted (absoluteSort)', 'algorithm: has no counterpart', 'expands rules[sorted]'])
    expect(said).toContain(what)
})

test('muster import converts a queue of Unity Matchmaker, and its filtered pool to another queue', async () => {
  const pool = {
    name: 'default',
    enabled: true,
    timeoutSeconds: 90,
    variants: [],
    matchLogic: {
      name: 'rules',
      backfillEnabled: true,
      matchDefinition: {
        teams: [
          {
            name: 'team',
            teamCount: { min: 2, max: 2 },
            playerCount: {
              min: 2,
              max: 3,
              relaxations: [{ type: 'RangeControl.ReplaceMin', ageType: 'Oldest', atSeconds: 30, value: 1 }],
            },
          },
        ],
        matchRules: [
          {
            name: 'skill',
            type: 'Difference',
            source: 'Players.CustomData.skill',
            reference: 500,
            relaxations: [{ type: 'RuleControl.Disable', ageType: 'Oldest', atSeconds: 15 }],
          },
          { name: 'maps', type: 'Intersection', source: 'Players.CustomData.maps', overlap: 1 },
          { name: 'not new', type: 'InList', source: 'Players.CustomData.league', reference: ['new'], not: true },
          { name: 'ping', type: 'LessThan', source: 'Players.QosResults.Latency', reference: 100 },
          { name: 'odd', type: 'Doubles', source: 'Players.CustomData.x', reference: 1 },
        ],
      },
    },
  }
  const filters = [{ attribute: 'platform', operator: 'Equal', value: 'pc' }]
  const { queues, said } = await queuesOf('unity', {
    name: 'ranked',
    maxPlayersPerTicket: 2,
    defaultPool: pool,
    filteredPools: [{ ...pool, name: 'pc', filters }],
  })
  expect(queues).toMatchObject([
    {
      name: 'ranked',
      teams: [{ name: 'team', count: 2, size: { min: [step(0, 2), step(30, 1)], max: 3 } }],
      rules: [
        { kind: 'difference', attribute: 'skill', max: 500, name: 'skill', by: 'oldest', optionalAfterMs: 15_000 },
        { kind: 'overlap', attribute: 'maps', atLeast: 1, name: 'maps' },
        {
          kind: 'not',
          name: 'not new',
          rule: { kind: 'require', attribute: 'league', operator: 'in', value: ['new'] },
        },
        { kind: 'latency', maxMs: 100, name: 'ping' },
      ],
      expireAfterMs: 90_000,
      playerMayState: ['skill', 'maps', 'league', 'latencies'],
    },
    {
      name: 'ranked-pc',
      rules: [{ kind: 'require', attribute: 'platform', operator: '=', value: 'pc' }, {}, {}, {}, {}],
    },
  ])
  expect(said).toContain('type: is Doubles, with no counterpart of the same form')
  expect(said).toContain('filteredPools[0]: is a queue of its own here')
})

test('muster import converts a queue of PlayFab Matchmaking', async () => {
  const attribute = (Path: string) => ({ Path, Source: 'User' })
  const { queues, said } = await queuesOf('playfab', {
    MatchmakingQueue: {
      Name: 'arena',
      MinMatchSize: 2,
      MaxMatchSize: 4,
      ServerAllocationEnabled: false,
      StringEqualityRules: [{ Name: 'build', Attribute: attribute('Build'), Weight: 1, SecondsUntilOptional: 60 }],
      DifferenceRules: [
        {
          Name: 'skill',
          Attribute: attribute('Skill'),
          Difference: 5,
          MergeFunction: 'Max',
          AttributeNotSpecifiedBehavior: 'UseDefault',
          DefaultAttributeValue: 25,
          LinearExpansion: { Delta: 10, Limit: 25, SecondsBetweenExpansions: 5 },
        },
      ],
      SetIntersectionRules: [
        {
          Name: 'modes',
          Attribute: attribute('Modes'),
          MinIntersectionSize: 3,
          AttributeNotSpecifiedBehavior: 'MatchAny',
          CustomExpansion: { MinIntersectionSizeOverrides: [{ OverrideValue: 2 }, 1], SecondsBetweenExpansions: 10 },
        },
      ],
      RegionSelectionRule: { Name: 'region', Path: 'Latencies', MaxLatency: 250 },
      MatchTotalRules: [{ Name: 'total', Attribute: attribute('Weight'), Min: 1, Max: 9 }],
    },
  })
  expect(queues).toEqual([
    {
      name: 'arena',
      teams: [{ name: 'players', size: { min: 2, max: 4 } }],
      rules: [
        { kind: 'equal', attribute: 'Build', name: 'build', optionalAfterMs: 60_000 },
        {
          kind: 'difference',
          attribute: 'Skill',
          max: [step(0, 5), step(5, 15), step(10, 25)],
          party: 'max',
          name: 'skill',
          missing: { value: 25 },
        },
        {
          kind: 'overlap',
          attribute: 'Modes',
          atLeast: [step(0, 3), step(10, 2), step(20, 1)],
          name: 'modes',
          missing: 'any',
        },
        { kind: 'latency', maxMs: 250, name: 'region' },
      ],
      playerMayState: ['Build', 'Skill', 'Modes', 'latencies'],
      deploy: { application: 'my-game', version: '1' },
    },
  ])
  expect(said).toContain('MatchTotalRules[0]: is left out: write it as compare with scope: match')
  expect(said).toContain('RegionSelectionRule.Path: is called beacons here')
})

describe('a limit with more steps than Muster has', () => {
  const attribute = { Path: 'Skill', Source: 'User' }
  const queueOf = (rule: object) => ({
    Name: 'arena',
    MinMatchSize: 2,
    MaxMatchSize: 2,
    DifferenceRules: [{ Name: 'skill', Attribute: attribute, Difference: 10, ...rule }],
  })
  const maxOf = (rule: object) => {
    const { queues, lost } = importPlayFab(queueOf(rule))
    const rules = queues[0]?.['rules'] as readonly { readonly max: unknown }[] | undefined
    return { max: rules?.[0]?.max, said: lost.map(({ message }) => message).join('\n') }
  }

  test('an expansion of PlayFab with many steps and a limit grows evenly', () => {
    const { max, said } = maxOf({ LinearExpansion: { Delta: 1, Limit: 50, SecondsBetweenExpansions: 5 } })
    expect(max).toEqual({ from: 10, to: 50, overMs: 200_000 })
    expect(said).toContain('has 40 steps, and grows evenly here')
  })

  test('an expansion of PlayFab without a limit ends after the steps that a limit may have', () => {
    const { max, said } = maxOf({ LinearExpansion: { Delta: 1, SecondsBetweenExpansions: 5 } })
    expect(max).toHaveLength(20)
    expect(said).toContain('ends after 19 steps here')
  })

  test('of many own steps some are left out, but neither the first nor the last', () => {
    const DifferenceOverrides = Array.from({ length: 60 }, (_, index) => 11 + index)
    const { max, said } = maxOf({ CustomExpansion: { DifferenceOverrides, SecondsBetweenExpansions: 1 } })
    expect(max).toHaveLength(20)
    expect((max as unknown[])[0]).toEqual(step(0, 10))
    expect((max as unknown[])[19]).toEqual(step(60, 70))
    expect(said).toContain('has 61 steps, of which 41 are left out: a limit has 20 at most')
  })
})

const known = (
  'profiles rules initial expansions application attributes type name version 30 teams players measurements steps ' +
  'target defaultPool matchLogic matchDefinition playerCount teamCount relaxations Name Attribute Path ' +
  'DifferenceRules LinearExpansion'
).split(' ')
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(0, 1, -1, null, true, '', 'latency', 'player_count', '5m', 'count(teams[a].players)'),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...known, '__proto__', 'constructor'), tie('tree'), { maxKeys: 6 }),
  ),
}))

test.each(Object.entries({ importEdgegap, importFlexMatch, importUnity, importPlayFab }))(
  '%s converts any file, or refuses it with an UnfitSource error',
  (_name, read) => {
    fc.assert(
      fc.property(tree, (source) => {
        try {
          expect(read(source).queues.length).toBeGreaterThan(0)
        } catch (error) {
          expect(error).toBeInstanceOf(UnfitSource)
        }
      }),
      { numRuns: 300 },
    )
  },
)
