import { expect, test } from 'vitest'
import { deploy, setUp } from './matchmaker.fixture.js'

test('a custom rule that throws for some players prevents only matches of these players', async () => {
  const test = ({ teams }: { readonly teams: readonly { readonly tickets: readonly { readonly id: string }[] }[] }) => {
    if (teams.some(({ tickets }) => tickets.some(({ id }) => id === 'abe'))) throw new Error('no such player')
    return true
  }
  const { join, run, status, seen } = setUp({
    queues: [{ name: 'duel', matchSize: 2, rules: [{ kind: 'custom', name: 'mine', test }], deploy }],
  })
  for (const player of ['abe', 'ann', 'ben']) join(player)
  await run(1000)
  expect(['abe', 'ann', 'ben'].map(status)).toEqual(['SEARCHING', 'MATCH_FOUND', 'MATCH_FOUND'])
  expect(seen.problem?.map(({ during, error }) => [during, (error as Error).message])).toEqual([
    ['rule', 'rule "mine" of queue "duel" failed: Error: no such player'],
  ])
})

test('`searchesGivenUp` counts searches that ran out of budget, not those that saw all candidates', async () => {
  const rules = [{ kind: 'custom', name: 'never', test: () => false }] as const
  const { matchmaker } = setUp({
    queues: [
      { name: 'large', teams: [{ name: 'team', count: 2, size: 5 }], rules, deploy },
      { name: 'small', matchSize: 2, rules, deploy },
    ],
  })
  const givenUp = () =>
    Object.fromEntries(matchmaker.inspect().queues.map((queue) => [queue.name, queue.searchesGivenUp]))
  for (const queue of ['large', 'small'])
    for (let index = 0; index < 12; index += 1)
      matchmaker.createTicket({ queue, players: [{ id: `${queue}-${index}`, ip: '198.51.100.7' }] })
  expect(givenUp()).toEqual({ large: 0, small: 0 })
  await matchmaker.tick()
  const { large, small } = givenUp()
  expect(large).toBeGreaterThan(0)
  expect(small).toBe(0)
})
