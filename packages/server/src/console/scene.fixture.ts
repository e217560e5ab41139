import type { QueueDefinition } from '@muster/matchmaker'
import { seededRandom } from '@muster/core/clock'
import { setUp } from './console.fixture.js'

const deploy = { application: 'game', version: '1' }
const relaxing = [
  { afterMs: 0, value: 10 },
  { afterMs: 5000, value: 40 },
  { afterMs: 20_000, value: 100 },
]

/** A queue whose tickets are matched immediately, and one whose tickets need players of equal skill. */
const queues: readonly QueueDefinition[] = [
  { name: 'duel', matchSize: 2, deploy },
  {
    name: 'ranked',
    matchSize: 2,
    rules: [{ kind: 'difference', attribute: 'skill', max: relaxing }],
    expireAfterMs: 3_600_000,
    deploy,
  },
]

/**
 * A console over a real matchmaker on a manual clock, with the given numbers of waiting players all over the world and
 * of matches. The same numbers create the same scene.
 */
export async function createScene({ players, matches }: { readonly players: number; readonly matches: number }) {
  const world = setUp({ queues, matchmaker: { maxServers: Infinity, maxStarting: Infinity } })
  const { matchmaker, clock } = world
  const random = seededRandom(7)
  for (let index = 0; index < matches * 2; index += 1) {
    matchmaker.createTicket({ queue: 'duel', players: [{ id: `duelist-${index}`, ip: '198.51.100.7' }] })
  }
  matchmaker.start()
  await clock.advance(matches === 0 ? 0 : 30_000)
  for (let index = 0; index < players; index += 1) {
    const coordinates = { latitude: random() * 130 - 60, longitude: random() * 360 - 180 }
    // The players are too far apart in skill to be matched.
    const player = { id: `player-${index}`, coordinates, attributes: { skill: index * 1000 } }
    matchmaker.createTicket({ id: `ticket-${index}`, queue: 'ranked', players: [player] })
  }
  await clock.advance(6000)
  return world
}
