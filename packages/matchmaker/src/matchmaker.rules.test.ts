import { describe, expect, test } from 'vitest'
import { InvalidTicket } from './errors.js'
import { deploy, setUp } from './matchmaker.fixture.js'
import type { QueueDefinition } from './queues/queue.js'
import type { RuleDefinition } from './queues/rules/definition.js'
import type { WaitOf } from './queues/rule-parts/rule-base.js'
import type { Player } from '@muster/hosting/internal'

/** Creates a matchmaker with one queue whose players are all at the same location. */
function queueOf(queue: Partial<QueueDefinition>) {
  const shape = queue.teams === undefined ? { matchSize: 2 } : {}
  const all = setUp({ queues: [{ name: 'duel', ...shape, ...queue, deploy }] })
  /** Creates a ticket whose id consists of its players' names. */
  const wait = (...players: readonly (Partial<Player> & { readonly id: string })[]) =>
    all.matchmaker.createTicket({
      id: players.map(({ id }) => id).join('-'),
      queue: 'duel',
      players: players.map((player) => ({ ip: '198.51.100.7', ...player })),
    })
  const skilled = (id: string, skill: number) => wait({ id, attributes: { skill } })
  const isMatched = (id: string) => all.status(id) !== 'SEARCHING'
  const teamOf = (id: string) => all.matchmaker.getTicket(id)?.team
  return { ...all, wait, skilled, isMatched, teamOf }
}

const close: RuleDefinition = { kind: 'difference', attribute: 'skill', max: 10 }
const giving: RuleDefinition = {
  ...close,
  max: [
    { afterMs: 0, value: 10 },
    { afterMs: 4000, value: 100 },
  ],
}

describe('the teams of a queue', () => {
  const hunt = [
    { name: 'monster', size: 1 },
    { name: 'hunters', size: 4 },
  ]

  test('parties are put in teams in which they fit, with one player against four', async () => {
    const { wait, run, teamOf } = queueOf({ teams: hunt })
    wait({ id: 'ann' }, { id: 'ben' }, { id: 'cas' })
    wait({ id: 'dee' })
    wait({ id: 'eve' })
    await run(500)
    expect(teamOf('ann-ben-cas')).toBe('hunters')
    expect([teamOf('dee'), teamOf('eve')].toSorted()).toEqual(['hunters', 'monster'])
  })

  test('a rule can compare teams of different sizes, with one player against four', async () => {
    const sums = { kind: 'compare', attribute: 'skill', aggregate: 'sum' } as const
    const stronger: RuleDefinition = { ...sums, team: 'monster', operator: '>=', otherTeam: 'hunters' }
    const { skilled, run, teamOf } = queueOf({ teams: hunt, rules: [stronger] })
    for (const [id, skill] of [
      ['ann', 1],
      ['ben', 2],
      ['cas', 9],
      ['dee', 3],
      ['eve', 1],
    ] as const)
      skilled(id, skill)
    await run(500)
    expect(['ann', 'ben', 'cas', 'dee', 'eve'].map(teamOf)).toEqual([
      'hunters',
      'hunters',
      'monster',
      'hunters',
      'hunters',
    ])
  })

  test('teams wait `fillForMs` for their full size, then need only their minimum, which may fall', async () => {
    const min = [
      { afterMs: 0, value: 3 },
      { afterMs: 6000, value: 2 },
    ]
    const teams = [{ name: 'all', size: { min, max: 4 } }]
    const three = queueOf({ teams, fillForMs: 2000 })
    for (const id of ['ann', 'ben', 'cas']) three.wait({ id })
    await three.run(2000)
    expect(three.isMatched('ann')).toBe(false)
    await three.run(250)
    expect(['ann', 'ben', 'cas'].map(three.isMatched)).toEqual([true, true, true])

    const two = queueOf({ teams, fillForMs: 2000 })
    for (const id of ['ann', 'ben']) two.wait({ id })
    await two.run(6000)
    expect(two.isMatched('ann')).toBe(false)
    await two.run(250)
    expect(['ann', 'ben'].map(two.isMatched)).toEqual([true, true])
  })

  test('teams fill their roles without splitting a party', async () => {
    const { wait, run, isMatched, teamOf } = queueOf({
      teams: [{ name: 'side', count: 2, size: 2 }],
      rules: [{ kind: 'roles', roles: { tank: 1 } }],
    })
    wait({ id: 'ann', roles: ['tank'] }, { id: 'ben', roles: ['tank'] })
    wait({ id: 'cas', roles: ['healer'] })
    wait({ id: 'dee', roles: ['healer'] })
    await run(500)
    expect(isMatched('ann-ben')).toBe(false)
    wait({ id: 'eve', roles: ['tank'] })
    await run(500)
    expect(isMatched('ann-ben')).toBe(true)
    expect(teamOf('eve')).toBe(teamOf('cas') ?? teamOf('dee'))
    expect(teamOf('eve')).not.toBe(teamOf('ann-ben'))
  })
})

describe('a rule that relaxes', () => {
  // Ann waits since 0 s and ben since 2 s. So the oldest has waited 4 s at 4 s, the average reaches 4 s at 5 s, and the
  // youngest at 6 s.
  test.each<[WaitOf, number]>([
    ['oldest', 4000],
    ['average', 5000],
    ['youngest', 6000],
    ['each', 6000],
  ])('a rule relaxes by the wait time of the %s ticket', async (by, at) => {
    const { skilled, run, isMatched } = queueOf({ rules: [{ ...giving, by }] })
    skilled('ann', 0)
    await run(2000)
    skilled('ben', 50)
    await run(at - 2000)
    expect(isMatched('ann')).toBe(false)
    // Rules by average are checked again once per second.
    await run(by === 'average' ? 1250 : 250)
    expect([isMatched('ann'), isMatched('ben')]).toEqual([true, true])
  })

  test('a rule is ignored once it is optional', async () => {
    const { skilled, run, isMatched } = queueOf({ rules: [{ ...close, optionalAfterMs: 3000 }] })
    skilled('ann', 0)
    skilled('ben', 5000)
    await run(3000)
    expect(isMatched('ann')).toBe(false)
    await run(250)
    expect(isMatched('ann')).toBe(true)
  })
})

describe('a ticket at its last resort', () => {
  test('a ticket at its last resort gets the best possible match, even with a new ticket', async () => {
    const { skilled, run, isMatched } = queueOf({ rules: [close], lastResortMs: 5000 })
    skilled('ann', 0)
    await run(4000)
    skilled('ben', 5000)
    skilled('cas', 3000)
    await run(1000)
    expect(isMatched('ann')).toBe(false)
    await run(250)
    expect(['ann', 'ben', 'cas'].map(isMatched)).toEqual([true, false, true])
  })

  test('a ticket expires if a hard rule allows no match, even at the last resort', async () => {
    const { skilled, run, status } = queueOf({
      rules: [{ ...close, hard: true }],
      lastResortMs: 2000,
      expireAfterMs: 4000,
    })
    skilled('ann', 0)
    skilled('ben', 5000)
    await run(4250)
    expect([status('ann'), status('ben')]).toEqual(['CANCELLED', 'CANCELLED'])
  })
})

describe('a ticket without the attribute of a rule', () => {
  test('a ticket without the attribute of a rule is refused, with the path of the attribute', () => {
    const { wait } = queueOf({ rules: [close] })
    expect(() => wait({ id: 'ann', attributes: { skill: 1 } }, { id: 'ben' })).toThrow(InvalidTicket)
    expect(() => wait({ id: 'ann', attributes: { skill: 1 } }, { id: 'ben' })).toThrow('players.1.attributes.skill')
  })

  test('a ticket without the attribute of a rule counts with the rule’s `missing` value', async () => {
    const { wait, skilled, run, isMatched } = queueOf({ rules: [{ ...close, missing: { value: 1000 } }] })
    wait({ id: 'ann' })
    skilled('ben', 0)
    skilled('cas', 995)
    await run(500)
    expect(['ann', 'ben', 'cas'].map(isMatched)).toEqual([true, false, true])
  })

  test('a ticket without the attribute of a rule matches any value if the rule sets `missing: any`', async () => {
    const { wait, skilled, run, isMatched } = queueOf({ rules: [{ ...close, missing: 'any' }] })
    wait({ id: 'ann' })
    skilled('ben', 12_345)
    await run(500)
    expect(['ann', 'ben'].map(isMatched)).toEqual([true, true])
  })
})
