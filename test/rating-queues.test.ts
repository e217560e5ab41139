import { readdirSync, readFileSync } from 'node:fs'
import { generateCrowd } from '@muster/lab'
import { type CrowdParameters, studyLearning } from '@muster/lab/internal'
import { checkQueue, type QueueDefinition } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

/** The files with which the figures in docs/ratings.md are measured. */
const folder = new URL('../docs/ratings/', import.meta.url)
const crowds = ['crowd.yaml', 'regulars.yaml']
const files = readdirSync(folder).filter((name) => !crowds.includes(name))
const read = (name: string): unknown => parse(readFileSync(new URL(name, folder), 'utf8'))

test.each(files)('the queue of docs/ratings/%s is valid', (name) => {
  const { queues } = read(name) as { readonly queues: readonly [object] }
  expect(checkQueue({ ...queues[0], deploy: { application: 'game', version: '1' } }).faults).toEqual([])
})

test.each(crowds)('the crowd of docs/ratings/%s is valid', (name) => {
  const parameters = { ...(read(name) as CrowdParameters), players: 20 }
  const players = generateCrowd(parameters, 1).parties.flatMap((party) => party.players)
  expect(players.length).toBeGreaterThanOrEqual(20)
  expect(players.every(({ truth }) => truth !== undefined)).toBe(true)
})

const rulesOf = (name: string) => {
  const { queues } = read(name) as { readonly queues: readonly [Pick<QueueDefinition, 'rules'>] }
  return queues[0].rules
}

/** The study of docs/ratings.md on a small scale. The document uses 2,000 players with 100 matches each. */
const study = { players: 100, matches: 30, seed: 1, ratings: { newcomers: 1 } }

test('the recommended rating rules give fairer matches and shorter waits than rules on mu alone', async () => {
  const mu = await studyLearning({ ...study, rules: rulesOf('mu.yaml') })
  const recommended = await studyLearning({ ...study, rules: rulesOf('learning.yaml') })
  const [before, after] = [mu.errors[30], recommended.errors[30]]
  // The initial estimate of an unknown newcomer is off by 25/3.
  expect(after?.newcomers).toBeLessThan(0.65 * (25 / 3))
  expect(after?.newcomers).toBeLessThan((before?.newcomers ?? 0) + 0.2)
  expect(after?.smurfs).toBeLessThan((before?.smurfs ?? 0) + 0.5)
  expect(recommended.favourite).toBeLessThan(mu.favourite - 0.005)
  expect(recommended.waitS[1]).toBeLessThan(mu.waitS[1] / 2)
})
