import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PlayerOverLimit, PlayerPlaying } from '../errors.js'
import { duel, setUp } from '../matchmaker.fixture.js'
import { createMemoryServerLog } from '@muster/hosting/internal'

const at = { ip: '198.51.100.7' }

/** Starts a running match of ann and ben. */
async function playing(options: Parameters<typeof setUp>[0] = {}) {
  const world = setUp(options)
  world.join('ann')
  world.join('ben')
  await world.run(8000)
  const matchId = world.matchmaker.getTicket('ann')?.matchId ?? ''
  let made = 0
  /** Creates a new ticket for the same players. */
  const again = (...players: string[]) => {
    made += 1
    return world.matchmaker.createTicket({
      id: `again-${made}`,
      queue: 'duel',
      players: players.map((id) => ({ id, ...at })),
    })
  }
  return { ...world, matchId, again }
}

describe('a ticket of a running match', () => {
  test('a ticket can be read while its match runs and for `endedTicketTtlMs` after', async () => {
    const { matchmaker, clock, run, matchId } = await playing()
    for (let minute = 0; minute < 30; minute += 1) {
      await clock.advance(60_000)
      await matchmaker.tick()
      expect(matchmaker.getTicket('ann')).toMatchObject({
        status: 'HOST_ASSIGNED',
        matchId,
        assignment: { fqdn: 'r1.example.com' },
      })
    }
    await clock.until(matchmaker.stopMatch(matchId))
    await run(59_000)
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
    await run(2000)
    expect([matchmaker.getTicket('ann'), matchmaker.getTicket('ben')]).toEqual([undefined, undefined])
  })

  test('a ticket is kept for `endedTicketTtlMs` after its server ended by itself', async () => {
    const { matchmaker, run } = await playing({ service: { fate: () => ({ readyMs: 5000, endMs: 20_000 }) } })
    while (matchmaker.inspect().matches.length > 0) await run(1000)
    await run(57_000)
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED' })
    await run(4000)
    expect(matchmaker.getTicket('ann')).toBeUndefined()
  })
})

describe('a player in a running match', () => {
  test('a player in a running match may not queue, alone or in a party, and the error names the match', async () => {
    const { again, matchId } = await playing()
    for (const party of [['ann'], ['cleo', 'ann']]) {
      expect(() => again(...party)).toThrow(new PlayerPlaying('ann', 'ann', matchId))
    }
    expect(again('cleo').status).toBe('SEARCHING')
  })

  test('a player in a running match may queue if the queue allows it', async () => {
    const other = { ...duel, name: 'other' }
    const { matchmaker, again } = await playing({ queues: [{ ...duel, playersMayWaitWhilePlaying: true }, other] })
    expect(again('ann').status).toBe('SEARCHING')
    expect(() => matchmaker.createTicket({ queue: 'other', players: [{ id: 'ben', ...at }] })).toThrow(PlayerPlaying)
    expect(() => matchmaker.createTicket({ queues: ['duel', 'other'], players: [{ id: 'ben', ...at }] })).toThrow(
      PlayerPlaying,
    )
  })

  test('a player in a running match is not matched into the same match again', async () => {
    const team = { name: 'team', size: { min: 2, max: 3 } }
    const queue = { name: 'duel', teams: [team], fillForMs: 0, deploy: duel.deploy, playersMayWaitWhilePlaying: true }
    const { matchmaker, again, run, matchId } = await playing({ queues: [queue] })
    matchmaker.createBackfill({ matchId })
    again('ann')
    await run(2000)
    expect(matchmaker.getTicket('again-1')?.status).toBe('SEARCHING')
    expect(matchmaker.inspect().matches[0]?.playerIds).toEqual(['ann', 'ben'])
  })
})

test('property: exactly the players of running matches may not queue', async () => {
  const names = ['ann', 'ben', 'cleo', 'dan', 'eve'] as const
  const act = fc.oneof(
    fc.record({ do: fc.constant('wait' as const), who: fc.subarray([...names], { minLength: 1, maxLength: 2 }) }),
    fc.record({ do: fc.constant('leave' as const), who: fc.subarray([...names], { minLength: 1 }) }),
    fc.record({ do: fc.constant('stop' as const), who: fc.constant([names[0]]) }),
    fc.record({ do: fc.constant('run' as const), who: fc.constant([]) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 25 }), async (acts) => {
      const { matchmaker, run } = setUp({
        service: { fate: (nth) => (nth % 3 === 2 ? { readyMs: 3000, endMs: 12_000 } : { readyMs: 3000 }) },
      })
      const playsIn = (id: string) =>
        matchmaker.inspect().matches.find(({ phase, playerIds }) => phase === 'running' && playerIds.includes(id))
      for (const { do: what, who } of acts) {
        if (what === 'run') await run(5000)
        for (const { matchId, phase } of matchmaker.inspect().matches) {
          if (phase !== 'running') continue
          if (what === 'leave') matchmaker.playersLeft(matchId, who)
          if (what === 'stop') void matchmaker.stopMatch(matchId).catch(() => {})
        }
        if (what !== 'wait') continue
        const expected = who.some((id) => playsIn(id) !== undefined)
        let refused = false
        try {
          matchmaker.createTicket({ queue: 'duel', players: who.map((id) => ({ id, ...at })) })
        } catch (error) {
          if ((error as Error).name === 'PlayerBusy') continue
          expect(error).toBeInstanceOf(PlayerPlaying)
          refused = true
        }
        expect(refused).toBe(expected)
      }
    }),
    { numRuns: 60 },
  )
})

describe('a player in a match from before a restart', () => {
  const restarted = async (options: Parameters<typeof setUp>[0] = {}) => {
    const serverLog = createMemoryServerLog()
    const { clock, service, matchId } = await playing({ serverLog, ...options })
    const later = setUp({ serverLog, clock, deployments: service.deployments, ...options })
    await later.matchmaker.tick()
    return { ...later, clock, service, matchId }
  }

  test('a player whose match began before a restart may not queue until it ends, as the error says', async () => {
    const { join, matchmaker, matchId, clock } = await restarted()
    expect(() => join('ann')).toThrow(new PlayerPlaying('ann', undefined, matchId))
    expect(() => join('cas', 'ben')).toThrow(PlayerPlaying)
    join('cas')
    matchmaker.playersLeft(matchId, ['ann'])
    join('ann')
    expect(() => join('ben')).toThrow(PlayerPlaying)
    const stopped = matchmaker.stopMatch(matchId)
    join('ben')
    await clock.until(stopped)
    expect(matchmaker.getTicket('ben')?.status).toBe('SEARCHING')
  })

  test('a player in a match from before a restart may queue where allowed, and that match counts', async () => {
    const { join } = await restarted({ queues: [{ ...duel, playersMayWaitWhilePlaying: true }] })
    join('ann')
    const { join: joinOne } = await restarted({
      queues: [{ ...duel, playersMayWaitWhilePlaying: true }],
      maxMatchesPerPlayer: 1,
    })
    expect(() => joinOne('ann')).toThrow(PlayerOverLimit)
  })

  test('a player in a match from before a restart may queue once the server has ended by itself', async () => {
    const { join, clock, matchmaker } = await restarted({ service: { fate: () => ({ readyMs: 5000, endMs: 20_000 }) } })
    expect(() => join('ann')).toThrow(PlayerPlaying)
    for (let passed = 0; passed < 90_000; passed += 1000) {
      await matchmaker.tick()
      await clock.advance(1000)
    }
    join('ann')
  })
})
