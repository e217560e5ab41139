import { expect, test } from 'vitest'
import { deploy, setUp } from './matchmaker.fixture.js'

test('a custom rule that throws for some players keeps only those from playing', async () => {
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
