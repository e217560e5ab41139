import { readdirSync, readFileSync } from 'node:fs'
import { generateCrowd } from '@muster/lab'
import type { CrowdParameters } from '@muster/lab/internal'
import { checkQueue } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

/** The files by which the figures in docs/ratings.md are measured. */
const folder = new URL('../docs/ratings/', import.meta.url)
const crowds = ['crowd.yaml', 'regulars.yaml']
const files = readdirSync(folder).filter((name) => !crowds.includes(name))
const read = (name: string): unknown => parse(readFileSync(new URL(name, folder), 'utf8'))

test.each(files)('the queue of docs/ratings/%s is one', (name) => {
  const { queues } = read(name) as { readonly queues: readonly [object] }
  expect(checkQueue({ ...queues[0], deploy: { application: 'game', version: '1' } }).faults).toEqual([])
})

test.each(crowds)('the crowd of docs/ratings/%s is one', (name) => {
  const parameters = { ...(read(name) as CrowdParameters), players: 20 }
  const players = generateCrowd(parameters, 1).parties.flatMap((party) => party.players)
  expect(players.length).toBeGreaterThanOrEqual(20)
  expect(players.every(({ truth }) => truth !== undefined)).toBe(true)
})
