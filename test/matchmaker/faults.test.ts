import { seededRandom, systemClock } from '@muster/core/clock'
import type { Fault } from '@muster/emulator'
import { expect, test } from 'vitest'
import { duel, openStudio, until } from './studio.js'

const faults: readonly Fault[] = [
  { operation: 'deployments.create', probability: 0.06, drop: 'after' },
  { operation: 'deployments.create', probability: 0.04, drop: 'before' },
  { operation: 'deployments.create', probability: 0.05, deployment: 'error' },
  { operation: 'deployments.create', probability: 0.05, deployment: 'no capacity' },
  { operation: 'deployments.create', probability: 0.04, status: 503, effect: true },
  { operation: 'deployments.create', probability: 0.04, status: 429, retryAfterMs: 1000 },
  { operation: 'deployments.create', probability: 0.05, body: 'truncated' },
  { operation: 'deployments.get', probability: 0.05, status: 503 },
  { operation: 'deployments.list', probability: 0.05, body: 'html' },
  { operation: 'deployments.stop', probability: 0.1, drop: 'after' },
  { operation: 'deployments.stop', probability: 0.1, status: 500 },
  { operation: '*', probability: 0.05, delayMs: 60 },
]

test.concurrent.each([1, 2])(
  'under random faults over HTTP (seed %i) every ticket ends once, and no server is orphaned',
  async (seed) => {
    const random = seededRandom(seed)
    const emulator = { faults, deployments: { listLagMs: 100 } }
    const matchmakerOptions = { queues: [{ ...duel, maxAttempts: 10, expireAfterMs: 4000 }] }
    const { matchmaker, deployments, shut } = await openStudio({ seed, emulator, matchmaker: matchmakerOptions })
    const ended: string[] = []
    matchmaker.on('serverAssigned', ({ tickets }) => void ended.push(...tickets.map(({ id }) => id)))
    matchmaker.on('cancelled', ({ ticket }) => void ended.push(ticket.id))
    matchmaker.on('expired', ({ ticket }) => void ended.push(ticket.id))

    const ids: string[] = []
    for (let arrival = 0; arrival < 60; arrival++) {
      const players = Array.from({ length: random() < 0.2 ? 2 : 1 }, (_, index) => ({
        id: `p${arrival}-${index}`,
        ip: '192.0.2.9',
      }))
      ids.push(matchmaker.createTicket({ queue: 'duel', players }).id)
      const some = ids[Math.floor(random() * ids.length)] ?? ''
      if (random() < 0.15 && matchmaker.getTicket(some)?.status !== 'HOST_ASSIGNED') matchmaker.cancelTicket(some)
      await systemClock.sleep(random() * 40)
    }
    await until('every ticket has ended', () => ended.length >= ids.length, 30_000)
    expect(ended.toSorted()).toEqual(ids.toSorted())
    const tags = deployments().map(({ tags }) => tags?.find((tag) => tag.startsWith('match-')))
    expect(new Set(tags).size).toBe(tags.length)
    expect(ids.filter((id) => matchmaker.getTicket(id)?.status === 'HOST_ASSIGNED').length).toBeGreaterThan(
      ids.length / 2,
    )
    expect(await shut()).toMatchObject({ unsettled: 0, alive: [] })
  },
)
