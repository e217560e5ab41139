import { describe, expect, test } from 'vitest'
import { shortfallsOf } from './scenes.fixture.js'

const duel = (tickets: object, expected: object, happens: object = {}) => ({
  queue: 'duel',
  tickets,
  happens,
  expect: expected,
})
const arena = (tickets: object, expected: object, happens: object = {}) => ({
  queue: 'arena',
  tickets,
  happens,
  expect: expected,
})

const near = { a: { skill: 1500 }, b: { skill: 1560 } }
const far = { a: { skill: 1500 }, b: { skill: 1720 } }

describe('an expectation of a scene', () => {
  test.each<[what: string, scene: object, says: readonly string[]]>([
    ['a match of exactly the named tickets', duel(near, { 'after 1s': { matched: [['a', 'b']] } }), []],
    [
      'tickets that a rule keeps apart',
      duel(far, { 'after 9s': { matched: [['a', 'b']] }, 'after 10s': { matched: [['a', 'b']] } }),
      [
        'after 9s: matched: [[a, b]]: a and b wait. ' +
          'Between a and b rule "skill" allows 100, but it is 220; after 10s it allows 250',
      ],
    ],
    [
      'the limit of the ticket that has waited less',
      duel({ a: { skill: 1500 }, b: { skill: 1720, at: '5s' } }, { 'after 12s': { together: ['a', 'b'] } }),
      [
        'after 12s: together: [a, b]: a and b wait. ' +
          'Between a and b rule "skill" allows 100, but it is 220; after 15s it allows 250',
      ],
    ],
    [
      'tickets that several rules keep apart',
      duel({ a: { skill: 1, city: 'Tokyo' }, b: { skill: 999 } }, { 'after 1s': { together: ['a', 'b'] } }),
      ['after 1s: together: [a, b]: a and b wait. Between a and b rules "skill" and "near" forbid a match'],
    ],
    [
      'other tickets took the place',
      duel({ ...near, c: { skill: 1500, priority: 1 } }, { 'after 1s': { matched: [['a', 'b']] } }),
      [
        'after 1s: matched: [[a, b]]: a is matched with c since 0s; b waits. Nobody else waits. ' +
          'In 9 s rule "skill" relaxes.',
      ],
    ],
    [
      'an unwanted match',
      duel(near, { 'after 1s': { 'not matched': 'a', apart: ['a', 'b'], matches: 0 } }),
      [
        'after 1s: not matched: a: a is matched with b since 0s',
        'after 1s: apart: [a, b]: a and b are in one match',
        'after 1s: matches: 0: there is 1: [a, b]',
      ],
    ],
    [
      'a waiting ticket, and why',
      duel(far, { 'after 1s': { waiting: { a: 'skill' }, 'not matched': ['a', 'b'] } }),
      [],
    ],
    ['a ticket that waits for players', duel({ a: { skill: 1 } }, { 'after 1s': { waiting: { a: 'players' } } }), []],
    [
      'a ticket that waits for another reason',
      duel(far, { 'after 1s': { waiting: { a: 'near', b: 'players' } } }),
      [
        'after 1s: waiting: { a: near, b: players }: a waits, but for another reason: Rule "skill" lets through 0 ' +
          'of 1 other ticket, and 1 more player is needed; the nearest miss is 220 where rule "skill" allows 100. ' +
          'In 9 s rule "skill" relaxes.',
        'after 1s: waiting: { a: near, b: players }: b waits, but for another reason: Rule "skill" lets through 0 ' +
          'of 1 other ticket, and 1 more player is needed; the nearest miss is 220 where rule "skill" allows 100. ' +
          'In 9 s rule "skill" relaxes.',
      ],
    ],
    [
      'a paused queue',
      duel(
        near,
        { 'after 5s': { waiting: { a: 'paused' } }, 'after 8s': { matched: [['a', 'b']], within: '7s' } },
        { 'after 0s': { pause: 'duel' }, 'after 6s': { resume: 'duel' } },
      ),
      [],
    ],
    [
      'a refused ticket, and why',
      duel({ a: {}, b: { skill: 1 } }, { 'after 0s': { refused: { a: 'skill', b: 'skill' } } }),
      ['after 0s: refused: { a: skill, b: skill }: it was not refused: b waits'],
    ],
    [
      'a ticket that no queue accepts',
      duel({ a: {}, b: { skill: 1 } }, { 'after 0s': { matched: ['a', 'b'] } }),
      [
        'after 0s: matched: [a, b]: a was refused (players.0.attributes.skill: is missing: rule "skill" ' +
          'requires a number); b waits. Nobody else waits. In 10 s rule "skill" relaxes.',
      ],
    ],
    [
      'a match later than promised',
      duel(far, { 'by 12s': { matched: ['a', 'b'], within: '5s' } }),
      ['by 12s: within: 5s: a waited 10s; b waited 10s'],
    ],
    [
      'a state that lasted until a moment',
      arena(
        { a: { skill: 1, answer: 'none' }, b: { skill: 1 }, c: { skill: 1, at: '9s', answer: 'decline' } },
        {
          'by 20s': { together: ['a', 'b'] },
          'after 20s': { ended: { a: 'declined', c: 'declined' }, waiting: 'b' },
        },
        { 'after 8s': { decline: 'a' } },
      ),
      [],
    ],
    [
      'no answer to the acceptance, and an expired ticket',
      arena(
        { a: { skill: 1, answer: 'none' }, b: { skill: 1 } },
        { 'after 16s': { ended: { a: 'not-accepted' } }, 'after 1m 1s': { ended: { b: 'cancelled' } } },
      ),
      ['after 1m 1s: ended: { b: cancelled }: b has ended at 1m: expired'],
    ],
    [
      'a late acceptance, a cancel, and a leaving player',
      arena(
        { a: { skill: 1, answer: 'none' }, b: { skill: 1 }, c: { skill: 1, at: '20s' } },
        { 'after 16s': { matched: [['a', 'b']] }, 'after 22s': { ended: { c: 'cancelled' } } },
        { 'after 8s': { accept: 'a' }, 'after 18s': { leave: 'a' }, 'after 21s': { cancel: 'c' } },
      ),
      [],
    ],
    [
      'events that cannot happen',
      duel(
        { ...near, c: { skill: 1 } },
        { 'after 9s': { matches: 1 } },
        { 'after 8s': { cancel: 'a', accept: 'b', leave: 'c' } },
      ),
      [
        'after 8s: cancel: a: it could not be done: Ticket a is already assigned to match vcj2fv8uvjpqao8vr6cc0 ' +
          'and cannot be cancelled.',
        'after 8s: accept: b: it could not be done: Ticket b has no match awaiting acceptance. ' +
          'It may have timed out; read the ticket again.',
        'after 8s: leave: c: it could not be done: ticket c is in no match',
      ],
    ],
    [
      'teams, in any order and by name',
      arena(
        { a: { skill: 1, party: 2 }, b: { skill: 2 }, c: { skill: 0 } },
        { 'after 1s': { teams: [['b', 'c'], ['a']] }, 'after 2s': { teams: { red: ['b', 'c'], blue: 'a' } } },
      ),
      ['after 2s: teams: { red: [b, c], blue: a }: the teams are blue: b and c; red: a'],
    ],
    [
      'uneven teams, and players far apart',
      arena(
        { a: { skill: 100 }, b: { skill: 200 } },
        { 'after 6s': { balance: { skill: 99 }, spread: { skill: 100 } }, 'after 7s': { spread: { skill: 50 } } },
      ),
      [
        'after 6s: balance: { skill: 99 }: the teams are b (200) and a (100): 100 apart',
        'after 7s: spread: { skill: 50 }: a and b are in one match, 100 apart',
      ],
    ],
    [
      'copies that arrive one after another',
      duel(
        { wave: { skill: { from: 0, to: 30 }, count: 4, every: '2s' } },
        {
          'after 3s': { matched: [['wave-1', 'wave-2']], matches: 1 },
          'after 6s': { matched: 'wave', matches: { min: 2 } },
        },
      ),
      [],
    ],
    [
      'places, latencies, roles and players to avoid',
      {
        queue: 'duel',
        defaults: { skill: 5 },
        tickets: {
          a: { city: 'berlin' },
          b: { coordinates: { latitude: 48.2, longitude: 16.4 }, avoid: 'c' },
          c: { city: 'Vienna', priority: 1 },
          d: { city: 'Sydney', queue: 'arena', latencies: { syd: 20 }, roles: 'healer' },
          e: { city: 'Sydney', queue: 'arena', latencies: { syd: 120, sin: 90 } },
        },
        expect: {
          'after 6s': { matched: [['a', 'c']], waiting: 'b', together: ['d', 'e'] },
        },
      },
      ['after 6s: together: [d, e]: d and e wait. Between d and e rule "ping" allows 100 ms, but it is 120 ms'],
    ],
  ])('an expectation of a scene passes, or fails with what happened instead and why: %s', async (_, scene, says) => {
    expect(await shortfallsOf(scene)).toEqual(says)
  })
})

test('scene tickets are not compared in isolation if the limits follow the number of players', async () => {
  const scene = { ...duel(far, { 'after 3s': { together: ['a', 'b'] } }), queue: 'steady' }
  const [words] = await shortfallsOf(scene)
  expect(words).toMatch(/^after 3s: together: \[a, b\]: a and b wait\. Rule "skill" lets through 0 of 1 other ticket/)
})
