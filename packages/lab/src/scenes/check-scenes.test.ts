import { describe, expect, test } from 'vitest'
import { defineQueue } from '@muster/matchmaker'
import { faultsIn } from './scenes.fixture.js'

const TICKETS = { a: { skill: 1 }, b: { skill: 2, at: '5s' } }
const scene = (more: object) => ({
  name: 'one',
  queue: 'duel',
  tickets: TICKETS,
  expect: { 'after 9s': { matches: 0 } },
  ...more,
})
const inScene = (more: object) => ({ scenes: [scene(more)] })
const expecting = (expected: object) => inScene({ expect: { 'after 9s': expected } })

describe('an invalid file of scenes', () => {
  test.each<[what: string, file: unknown, says: readonly string[]]>([
    ['a valid file', inScene({}), []],
    ['no scenes', {}, ['scenes: is missing']],
    ['an empty list', { scenes: [] }, ['scenes: must not be empty, got a list']],
    ['a misspelt field', { sceens: [], defaults: 5 }, ['sceens: is not known; did you mean scenes?']],
    ['a scene that is a number', { scenes: [5] }, ['scenes.0: must be an object, got 5']],
    [
      'a scene without anything',
      { scenes: [{}] },
      [
        'scenes.0.name: is missing',
        'scenes.0.tickets: is missing',
        'scenes.0.expect: must be moments with what is expected then, e.g. after 12s, got nothing',
      ],
    ],
    [
      'a scene that expects nothing',
      { scenes: [{ name: 'x', tickets: {}, expect: {} }] },
      [
        'scenes.0.tickets: must not be empty, got an object',
        'scenes.0.expect: is empty: write what is expected, e.g. after 12s, got an object',
      ],
    ],
    [
      'a moment that expects nothing',
      expecting({}),
      ['scenes.0.expect.after 9s: is empty: write what is expected, e.g. matched: [a, b]'],
    ],
    ['two scenes of one name', { scenes: [scene({}), scene({})] }, ['scenes.1.name: is also the name of scenes.0']],
    [
      'unknown queues, and a ticket without a queue',
      {
        scenes: [
          scene({ queue: 'duell' }),
          { name: 'two', tickets: { a: { skill: 1 } }, expect: { 'after 1s': { matches: 0 } } },
        ],
      },
      [
        'scenes.0.tickets.a.queue: "duell" is not a known queue of the file of queues; did you mean duel?',
        'scenes.0.tickets.b.queue: "duell" is not a known queue of the file of queues; did you mean duel?',
        'scenes.1.tickets.a: names no queue: write queue, one of duel, arena, steady',
      ],
    ],
    [
      'invalid tickets',
      inScene({
        tickets: {
          'a b': {},
          'c-1': null,
          c: { count: 2 },
          d: { city: 'Berln', coordinates: { latitude: 1, longitude: 2 } },
          e: { skil: 5, partty: 2, mood: 'good' },
          f: { at: '5', party: 0 },
          ff: { every: '1s', skill: 1 },
          g: { avoid: ['d', 'dd'], at: 12, answer: 'yes', skill: {} },
          h: { players: [{ id: 'x', skil: 1 }, { id: 5 }], party: 2 },
        },
      }),
      [
        'scenes.0.tickets.a b: is not a valid ticket name: 1 to 59 of A–Z, a–z, 0–9, _ and -',
        'scenes.0.tickets.c: makes a copy named c-1, but another ticket has this name: rename one of them',
        'scenes.0.tickets.d.coordinates: must not be given with city',
        'scenes.0.tickets.d.city: "Berln" is not a known city of the list; did you mean Berlin?',
        'scenes.0.tickets.e.skil: is not known; did you mean skill?',
        'scenes.0.tickets.e.partty: is not known; did you mean party?',
        '(warning) scenes.0.tickets.e.mood: is an attribute that no rule compares in duel',
        'scenes.0.tickets.f.at: must be a time with its unit, e.g. 12s, 500ms or 1m 30s, got "5"',
        'scenes.0.tickets.f.party: must be at least 1, got 0',
        'scenes.0.tickets.ff.every: needs count, the number of copies',
        'scenes.0.tickets.g.at: must be a time with its unit, e.g. 12s, 500ms or 1m 30s, got 12',
        'scenes.0.tickets.g.answer: must be "accept", "decline" or "none", got "yes"',
        'scenes.0.tickets.g.skill.from: is missing',
        'scenes.0.tickets.h.players.1.id: must be a text, got 5',
      ],
    ],
    [
      'an unknown player to avoid',
      inScene({ tickets: { dora: { avoid: ['dorra'] } } }),
      ['scenes.0.tickets.dora.avoid: "dorra" is not a known ticket or player of this scene; did you mean dora?'],
    ],
    [
      'invalid defaults',
      { defaults: { skil: 5, city: 'Nowhere' }, scenes: [scene({ defaults: { queues: ['duel'], queue: 'duel' } })] },
      [
        'defaults.city: "Nowhere" is not a known city of the list',
        'defaults.skil: is not known; did you mean skill?',
        'scenes.0.defaults.queues: must not be given with queue',
      ],
    ],
    [
      'invalid moments',
      inScene({
        expect: {
          'afer 9s': { matches: 0 },
          'after 9': { matches: 0 },
          'after 1h 25h': { matches: 0 },
          'by 9s': { waiting: 'a' },
        },
      }),
      [
        'scenes.0.expect.afer 9s: is not a moment: write e.g. after 12s or by 20s',
        'scenes.0.expect.after 9: is not a moment: write e.g. after 12s or by 20s',
        'scenes.0.expect.after 1h 25h: must be at most 24h: a scene of rules ends when every limit has relaxed',
        'scenes.0.expect.by 9s.waiting: cannot become true later: write after in place of by',
      ],
    ],
    [
      'a number of matches that is reached at the beginning',
      inScene({ expect: { 'by 9s': { matches: 0 }, 'by 8s': { matches: { max: 1 } }, 'by 7s': { matches: 1 } } }),
      [
        'scenes.0.expect.by 9s.matches: is true from the beginning: write after in place of by, or a number from 1',
        'scenes.0.expect.by 8s.matches: is true from the beginning: write after in place of by, or a number from 1',
      ],
    ],
    [
      'limits of attributes that are numbers of no player',
      inScene({
        tickets: { a: { skill: 1, mode: 'ranked' }, b: { skill: 5, mode: 'ranked' } },
        expect: { 'after 9s': { spread: { mode: 0, skill: 4 }, balance: { mode: 5 } } },
      }),
      [
        '(warning) scenes.0.tickets.a.mode: is an attribute that no rule compares in duel',
        'scenes.0.expect.after 9s.spread.mode: is a number of no player in this scene, so it would always be true',
        'scenes.0.expect.after 9s.balance.mode: is a number of no player in this scene, so it would always be true',
      ],
    ],
    [
      'unknown tickets in expectations',
      inScene({
        expect: { 'after 4s': { matched: [['a', 'b']], apart: 'a', together: ['a', 'bb'], 'not matched': 'B' } },
      }),
      [
        'scenes.0.expect.after 4s.matched.0.1: names ticket b, which comes only at 5s',
        'scenes.0.expect.after 4s.apart: names one ticket, but needs at least two',
        'scenes.0.expect.after 4s.together.1: "bb" is not a known ticket of this scene',
        'scenes.0.expect.after 4s.not matched.0: "B" is not a known ticket of this scene; did you mean b?',
      ],
    ],
    [
      'invalid expectations',
      expecting({
        waiting: { a: 'skil' },
        ended: { a: 'expird' },
        teams: { teem: 'a' },
        matches: { min: 2, max: 1 },
        within: '5s',
        balance: { skil: 5 },
        spread: { skill: -1 },
        mached: 'a',
      }),
      [
        'scenes.0.expect.after 9s.spread.skill: must be at least 0, got -1',
        'scenes.0.expect.after 9s.mached: is not known; did you mean matched?',
      ],
    ],
    [
      'an unknown rule, with the known ones',
      expecting({ waiting: { a: 'level' } }),
      ['scenes.0.expect.after 9s.waiting.a: "level" is not a known rule (skill, near, avoid), nor players or paused'],
    ],
    [
      'invalid expectations in valid forms',
      expecting({
        waiting: { a: 'skil' },
        ended: { a: 'expird' },
        teams: { teem: 'a' },
        matches: { min: 2, max: 1 },
        within: '5s',
        balance: { skil: 5 },
      }),
      [
        'scenes.0.expect.after 9s.waiting.a: "skil" is not a known rule, nor players or paused; did you mean skill?',
        'scenes.0.expect.after 9s.ended.a: "expird" is not a known end of a ticket; did you mean expired?',
        'scenes.0.expect.after 9s.teams.teem: "teem" is not a known team; did you mean team?',
        'scenes.0.expect.after 9s.matches: has a min above its max',
        'scenes.0.expect.after 9s.within: needs matched or together next to it, to name the tickets',
        'scenes.0.expect.after 9s.balance.skil: "skil" is not a known attribute of a ticket; did you mean skill?',
      ],
    ],
    [
      'invalid events',
      inScene({
        happens: {
          'by 6s': { cancel: 'a' },
          'after 4s': { decline: 'b', pause: 'dual', explode: 'a' },
          'after 6s': {},
        },
      }),
      [
        'scenes.0.happens.by 6s: must happen at an exact time: write after in place of by',
        'scenes.0.happens.after 4s.explode: is not known',
        'scenes.0.happens.after 6s: is empty: write what happens, e.g. cancel: a',
      ],
    ],
    [
      'an event of a ticket before its creation, and of an unknown queue',
      inScene({ happens: { 'after 4s': { decline: 'b', pause: 'dual' } } }),
      [
        'scenes.0.happens.after 4s.decline: names ticket b, which comes only at 5s',
        'scenes.0.happens.after 4s.pause: "dual" is not a known queue of the file of queues; did you mean duel?',
      ],
    ],
    [
      'events too late to matter, reported once',
      inScene({
        tickets: { ...TICKETS, late: { skill: 1, at: '10s', count: 3 } },
        happens: { 'after 11s': { cancel: 'a' } },
      }),
      [
        '(warning) scenes.0.tickets.late: is at 10s, after the last expectation',
        '(warning) scenes.0.happens.after 11s.cancel: is at 11s, after the last expectation',
      ],
    ],
    [
      'tickets that are named too often',
      inScene({
        tickets: { a: { skill: 1, count: 1000 } },
        expect: { 'after 1s': { matched: Array.from({ length: 501 }, () => 'a') } },
      }),
      ['scenes: name tickets more than 500000 times'],
    ],
    [
      'too many players',
      inScene({ tickets: { a: { skill: 1, count: 1000, party: 21 } } }),
      ['scenes.0.tickets: have 21000 players; a scene may have at most 20000. For more, use muster lab crowd'],
    ],
    [
      'too many tickets for too long',
      inScene({ tickets: { a: { skill: 1, count: 1000 } }, expect: { 'after 1h': { matches: 0 } } }),
      ['scenes: have too many tickets for too long: use a crowd and muster lab run instead'],
    ],
    [
      'too long in total',
      { scenes: ['one', 'two'].map((name) => scene({ name, expect: { 'after 13h': { matches: 0 } } })) },
      ['scenes: last 26h in all, but may last at most 24h'],
    ],
  ])('a file of scenes is checked for all its faults, with the nearest names: %s', (_, file, says) => {
    expect(faultsIn(file)).toEqual(says)
  })
})

test('scenes may set the ratings of a predicted win, even if the rule is within another rule', () => {
  const rule = { kind: 'balance', measure: 'predictedWin', mean: 'mu', uncertainty: 'sigma', max: 0.6 } as const
  const deploy = { application: 'lab', version: 'lab' }
  const tickets = { a: { mu: 25, sigma: 8, mood: 1 }, b: { mu: 25, sigma: 8 } }
  for (const rules of [[rule], [{ kind: 'any', rules: [rule, { kind: 'avoid' }] } as const]]) {
    const queue = defineQueue({ name: 'duel', teams: [{ name: 'side', count: 2, size: 1 }], rules, deploy })
    expect(faultsIn(inScene({ tickets }), [queue])).toEqual([
      '(warning) scenes.0.tickets.a.mood: is an attribute that no rule compares in duel',
    ])
  }
})
