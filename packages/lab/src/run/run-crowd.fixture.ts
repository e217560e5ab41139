import { seededRandom } from '@muster/core/clock'
import type { QueueDefinition } from '@muster/matchmaker'
import { CROWD_FORMAT, type Crowd } from '../crowd/crowd.js'

const deploy = { application: 'game', version: '1' }
export const duel = {
  name: 'duel',
  teams: [{ name: 'side', count: 2, size: 1 }],
  rules: [
    {
      kind: 'difference',
      attribute: 'skill',
      max: [
        { afterMs: 0, value: 50 },
        { afterMs: 10_000, value: 200 },
        { afterMs: 25_000, value: 600 },
      ],
    },
    {
      kind: 'distance',
      maxKm: [
        { afterMs: 0, value: 1000 },
        { afterMs: 15_000, value: 4000 },
      ],
    },
  ],
  expireAfterMs: 120_000,
  deploy,
} satisfies QueueDefinition

/** Generates single players all over Europe: a number per minute, for some minutes. */
export function europeans(perMinute: number, minutes: number, seed = 1): Crowd {
  const random = seededRandom(seed)
  const count = perMinute * minutes
  return {
    header: { format: CROWD_FORMAT, startsAt: Date.UTC(2026, 0, 1), durationMs: minutes * 60_000 },
    parties: Array.from({ length: count }, (_, index) => {
      const skill = Math.round(1500 + 300 * (random() + random() + random() + random() - 2))
      return {
        id: `g${index}`,
        at: Math.floor((index / count) * minutes * 60_000),
        players: [
          {
            id: `p${index}`,
            region: 'Europe',
            truth: skill,
            coordinates: { latitude: 40 + random() * 18, longitude: -5 + random() * 30 },
            attributes: { skill },
          },
        ],
        visits: [
          {
            patienceMs: Math.round(30_000 + random() * 60_000),
            playMs: Math.round(120_000 + random() * 240_000),
          },
        ],
      }
    }),
  }
}
