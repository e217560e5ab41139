import { describe, expect, test } from 'vitest'
import { defineQueue } from './queue.js'
import { PARTY_SIZE } from './rule-parts/rule-base.js'
import type { RuleDefinition } from './rules/definition.js'
import type { TeamDefinition } from './rule-parts/teams.js'
import { ruleClause } from './rules/rule-kinds.js'
import { sentence } from './rule-parts/english.js'

const steps = (...pairs: readonly (readonly [afterMs: number, value: number])[]) =>
  pairs.map(([afterMs, value]) => ({ afterMs, value }))

const sentencesOf = (teams: readonly TeamDefinition[], rules: readonly RuleDefinition[]) =>
  defineQueue({ name: 'queue', teams, rules, deploy: { application: 'game', version: '1' } }).rules.map((rule) =>
    sentence(ruleClause(rule)),
  )
const rulesOf = (...rules: readonly RuleDefinition[]) => sentencesOf([{ name: 'team', size: 2 }], rules)

describe('the sentence that describes a rule', () => {
  test('every rule about places and latencies is described by a sentence', () => {
    expect(
      rulesOf(
        { kind: 'distance', maxKm: { from: 500, to: 20_000, overMs: 60_000 }, missing: 'refuse' },
        {
          kind: 'latency',
          maxMs: steps([0, 60], [20_000, 120], [60_000, Infinity]),
          maxDifferenceMs: 40,
          missing: 'any',
        },
        { kind: 'latency', maxDifferenceMs: 0, name: 'fair' },
      ),
    ).toEqual([
      'Players meet within 500 km at first, growing evenly to 20,000 km over 60 s; players whose place is unknown ' +
        'are not taken.',
      'All players have a beacon in common with a round trip of at most 60 ms at first, 120 ms after 20 s, any after ' +
        '60 s, and with round trips that differ by at most 40 ms; players who have measured none are free of it.',
      'All players have a beacon in common with round trips that differ by at most 0 ms.',
    ])
  })

  test('every rule about attributes of players is described by a sentence', () => {
    expect(
      rulesOf(
        { kind: 'difference', attribute: 'rank', max: 1, party: 'max', missing: { value: 1000 } },
        { kind: 'difference', attribute: PARTY_SIZE, max: steps([0, 0], [30_000, 2], [45_000, 2]) },
        { kind: 'equal', attribute: 'mode', missing: 'any' },
        { kind: 'equal', attribute: 'clan', scope: 'team' },
        { kind: 'different', attribute: 'hero', scope: 'team' },
        { kind: 'overlap', attribute: 'maps', atLeast: steps([0, 2], [30_000, 1], [60_000, 0]), party: 'union' },
      ),
    ).toEqual([
      'Players differ in rank by at most 1; a party counts by its highest; players without rank count as 1,000.',
      'Players differ in party size by at most 0 at first, 2 after 30 s, still 2 after 45 s.',
      'All players have the same mode; players without mode are free of it.',
      'All players of a team have the same clan.',
      'No two players of a team have the same hero.',
      'All players share at least two entries of maps at first, one after 30 s, none after 60 s; a party has what ' +
        'any of its players lists.',
    ])
  })

  test('every rule about a single ticket is described by a sentence', () => {
    expect(
      rulesOf(
        { kind: 'require', attribute: 'level', operator: '>=', value: steps([0, 10], [20_000, 5]), party: 'avg' },
        { kind: 'require', attribute: PARTY_SIZE, operator: '<=', value: 3 },
        { kind: 'require', attribute: 'mode', operator: '=', value: 'ranked' },
        { kind: 'require', attribute: 'beginner', operator: '!=', value: true },
        { kind: 'require', attribute: 'region', operator: 'in', value: ['eu', 'us'] },
        { kind: 'require', attribute: 'region', operator: 'not in', value: ['xx', 'yy'], name: 'no test regions' },
        { kind: 'require', attribute: 'dlc', operator: 'contains', value: 'winter', missing: { value: ['winter'] } },
        { kind: 'require', attribute: 'bans', operator: 'excludes', value: 'chat' },
      ),
    ).toEqual([
      "Every party's average level is at least 10 at first, 5 after 20 s.",
      "Every party's size is at most 3.",
      'Every player\'s mode is "ranked".',
      "Every player's beginner is not true.",
      'Every player\'s region is "eu" or "us".',
      'Every player\'s region is none of "xx" and "yy".',
      'Every player has "winter" in dlc; players without dlc count as "winter".',
      'No player has "chat" in bans.',
    ])
  })

  test('every rule about whom a ticket accepts is described by a sentence', () => {
    expect(
      rulesOf(
        { kind: 'accepts', attribute: 'skill', operator: '>=', own: 'minSkill', missing: { value: 1000 } },
        { kind: 'accepts', attribute: 'clan', operator: 'not in', own: 'blockedClans' },
        { kind: 'accepts', attribute: 'clan', operator: '=', own: 'wantedClan', name: 'clan' },
        { kind: 'accepts', attribute: 'languages', operator: 'contains', own: 'language' },
      ),
    ).toEqual([
      "Every player's skill is at least the minSkill of each player of another party; players without minSkill " +
        'accept everyone; players without skill count as 1,000.',
      "Every player's clan is none of the blockedClans of each player of another party; players without blockedClans " +
        'accept everyone.',
      "Every player's clan is the wantedClan of each player of another party; players without wantedClan " +
        'accept everyone.',
      'Every player has the language of each player of another party in languages; players without language accept ' +
        'everyone.',
    ])
  })

  test('every rule about teams is described by a sentence', () => {
    const teams = [
      { name: 'monster', size: 2 },
      { name: 'hunters', size: 4 },
    ]
    const rules: RuleDefinition[] = [
      { kind: 'compare', aggregate: 'avg', attribute: 'skill', team: 'hunters', operator: '>', otherTeam: 'monster' },
      { kind: 'compare', aggregate: 'count', team: 'hunters', operator: '<=', value: steps([0, 2], [30_000, 4]) },
      { kind: 'compare', aggregate: 'sum', attribute: 'gold', scope: 'match', operator: '<', value: 12_345.5 },
      { kind: 'compare', aggregate: 'max', attribute: 'skill', operator: '=', otherTeam: 'monster' },
      { kind: 'roles', roles: { tank: 1, healer: { min: 1, max: 2 } }, team: 'hunters' },
      { kind: 'roles', roles: { sniper: { min: 0, max: 1 } }, team: 'monster' },
      { kind: 'roles', roles: { scout: 0, medic: 0 } },
      { kind: 'balance', attribute: 'skill', aggregate: 'sum', max: steps([0, 50], [20_000, Infinity]) },
      {
        kind: 'balance',
        measure: 'predictedWin',
        mean: 'mu',
        uncertainty: 'sigma',
        max: steps([0, 0.55], [20_000, 0.7], [60_000, Infinity]),
        missing: { value: { mean: 25, uncertainty: 8.5 } },
      },
      {
        kind: 'balance',
        measure: 'predictedWin',
        mean: 'elo',
        uncertainty: 'doubt',
        beta: 250,
        max: { from: 0.6, to: 1, overMs: 30_000 },
        name: 'elo',
      },
    ]
    expect(sentencesOf(teams, rules)).toEqual([
      'The average skill of team hunters is above that of team monster.',
      'The number of players of team hunters is at most 2 at first, 4 after 30 s.',
      'The total gold of the match is below 12,345.5.',
      'The highest skill of each team is that of team monster.',
      'Team hunters has one player for tank and one for healer, all different players; it has at most two who can ' +
        'play only healer.',
      'Team monster has at most one who can play only sniper.',
      'Each team needs nobody for scout and medic.',
      'The teams differ in total skill by at most 50 at first, any amount after 20 s, and are made as even as can be.',
      'Of any two teams, the favourite is predicted to win with a probability of at most 55 % at first, 70 % after ' +
        '20 s, any after 60 s, by mu and its uncertainty sigma, and the teams are made as even as can be; players ' +
        'without a rating count as 25 with an uncertainty of 8.5.',
      'Of any two teams, the favourite is predicted to win with a probability of at most 60 % at first, growing ' +
        'evenly to 100 % over 30 s, by elo and its uncertainty doubt, where performances vary by 250, and the teams ' +
        'are made as even as can be.',
    ])
  })

  test('rules within rules and custom rules are described by a sentence', () => {
    expect(
      rulesOf(
        {
          kind: 'any',
          rules: [
            { kind: 'equal', attribute: 'mode' },
            {
              kind: 'all',
              rules: [
                { kind: 'difference', attribute: PARTY_SIZE, max: 1 },
                { kind: 'different', attribute: 'clan' },
              ],
            },
          ],
          by: 'average',
          optionalAfterMs: 30_000,
        },
        { kind: 'not', rule: { kind: 'equal', attribute: 'clan' } },
        { kind: 'custom', name: 'no clan war', test: () => true },
      ),
    ).toEqual([
      'At least one of these holds: (1) all players have the same mode, or (2) all of these hold: (a) players differ ' +
        'in party size by at most 1, and (b) no two players have the same clan; this no longer counts after 30 s, by ' +
        'the average wait of the match.',
      'This does not hold: all players have the same clan.',
      'The function of rule no clan war lets the match through.',
    ])
  })
})
