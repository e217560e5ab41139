import { describe, expect, test } from 'vitest'
import { Unavailable } from './errors.js'
import { createMemoryServerLog, NO_SERVER_LOG, type ServerLog } from '@muster/hosting/internal'
import { setUp } from './matchmaker.fixture.js'

describe('the log of servers', () => {
  test('a server is recorded in the server log before its create, and removed once it is gone', async () => {
    const written: string[] = []
    const memory = createMemoryServerLog()
    const serverLog: ServerLog = {
      open: () => memory.open(),
      append: async (entries) => {
        written.push(entries.map(({ kind }) => kind).join('+'))
        await memory.append(entries)
      },
    }
    let known = 0
    const { matchmaker, join, run } = setUp({
      serverLog,
      service: { fault: (method) => void (method === 'create' && (known = written.length)) },
    })
    join('ann', 'ben')
    await run(6000)
    expect(known).toBe(2)
    await matchmaker.stopMatch(matchmaker.getTicket('ann-ben')?.matchId ?? '')
    expect(written).toEqual(['match+server', 'sent', 'created', 'up+playing', 'dropped+over', 'gone'])
    expect(await memory.open()).toEqual({ servers: [], matches: [] })
  })

  test('a server log that cannot be written stops all creates without costing attempts', async () => {
    const serverLog: ServerLog = { ...NO_SERVER_LOG, append: () => Promise.reject(new Error('disk full')) }
    const { matchmaker, service, seen, join, run } = setUp({ serverLog })
    join('ann', 'ben')
    await run(5000)
    expect(service.calls.create).toHaveLength(0)
    expect(seen.problem?.[0]).toMatchObject({ during: 'store' })
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ attempts: 0 })
  })

  test('a server log that cannot be read stops matchmaking until it can be read', async () => {
    let broken = true
    const memory = createMemoryServerLog()
    const open = () => (broken ? Promise.reject(new Error('no disk')) : memory.open())
    const serverLog: ServerLog = { ...memory, open }
    const { matchmaker, seen, join, run, status } = setUp({ serverLog })
    expect(() => join('ann', 'ben')).toThrow(Unavailable)
    let isReady = false
    void matchmaker.ready().then(() => (isReady = true))
    await run(500)
    expect(() => join('ann', 'ben')).toThrow(/^The store cannot be opened/)
    expect(() => matchmaker.getTicket('ann-ben')).toThrow(Unavailable)
    // The attempt is repeated once per second.
    expect(seen.problem).toHaveLength(1)
    expect(isReady).toBe(false)
    broken = false
    await run(1250)
    expect(isReady).toBe(true)
    expect(matchmaker.inspect().blockedBy).toBeUndefined()
    join('ann', 'ben')
    await run(250)
    expect(status('ann-ben')).toBe('MATCH_FOUND')
  })

  test('after a restart the server log tells which servers to keep, to stop and to search for', async () => {
    const serverLog = createMemoryServerLog()
    const { clock, service, matchmaker, seen, run } = setUp({ serverLog })
    for (const [matchId, request] of [
      ['playing', true],
      ['starting', true],
      ['lost', false],
      ['never', false],
      ['unsent', false],
    ] as const) {
      const of = { queue: 'duel', at: clock.now() }
      const serverId = matchId
      await serverLog.append([
        { ...of, kind: 'match', matchId, ticketIds: [], playerIds: [], serverId },
        { ...of, kind: 'server', serverId, tag: `match-${matchId}`, bornFor: matchId },
      ])
      if (matchId === 'unsent') continue
      await serverLog.append([{ kind: 'sent', serverId, at: clock.now() }])
      if (matchId === 'never') continue
      const { request_id } = await service.add(['mm-muster', `match-${matchId}`])
      if (request) await serverLog.append([{ kind: 'created', serverId, requestId: request_id }])
    }
    await serverLog.append([
      { kind: 'up', serverId: 'playing' },
      { kind: 'playing', matchId: 'playing', at: clock.now() },
    ])
    await run(250)
    const known = () => matchmaker.inspect().matches.map(({ matchId, phase }) => `${matchId} ${phase}`)
    expect(known()).toEqual(['playing running', 'never finding'])
    await run(4500)
    expect(known()).toEqual(['playing running'])
    await run(40_000)
    expect(service.unstopped()).toEqual(['r1'])
    expect(seen.deploymentStopped?.map(({ requestId, reason }) => [requestId, reason]).toSorted()).toEqual([
      ['r2', 'restarted'],
      ['r3', 'restarted'],
    ])
    expect(matchmaker.inspect().matches).toMatchObject([{ matchId: 'playing', phase: 'running' }])
    expect(await serverLog.open()).toMatchObject({
      servers: [{ serverId: 'playing' }],
      matches: [{ matchId: 'playing' }],
    })
  })
})
