import { describe, expect, test } from 'vitest'
import { Unavailable } from './errors.js'
import { createMemoryServerLog, type ServerLog, type ServerEntry } from '@muster/hosting/internal'
import { setUp } from './matchmaker.fixture.js'

describe('the store', () => {
  test('has an entry before a deployment is created, and drops it when it is gone', async () => {
    const entries: ServerEntry[] = []
    const memory = createMemoryServerLog()
    const serverLog: ServerLog = {
      open: () => memory.open(),
      append: async (entry) => {
        entries.push(entry)
        await memory.append(entry)
      },
    }
    let known = 0
    const { matchmaker, join, run } = setUp({
      serverLog,
      service: { fault: (method) => void (method === 'create' && (known = entries.length)) },
    })
    join('ann', 'ben')
    await run(6000)
    expect(known).toBe(2)
    await matchmaker.stopMatch(matchmaker.getTicket('ann-ben')?.matchId ?? '')
    expect(entries.map(({ kind }) => kind)).toEqual(['intent', 'sent', 'created', 'assigned', 'dropped', 'settled'])
    expect(await memory.open()).toEqual([])
  })

  test('that cannot be written stops all creates, without costing attempts', async () => {
    const serverLog: ServerLog = { open: () => [], append: () => Promise.reject(new Error('disk full')) }
    const { matchmaker, service, seen, join, run } = setUp({ serverLog })
    join('ann', 'ben')
    await run(5000)
    expect(service.calls.create).toHaveLength(0)
    expect(seen.problem?.[0]).toMatchObject({ during: 'store' })
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ attempts: 0 })
  })

  test('that cannot be read holds back every match', async () => {
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
    expect(matchmaker.inspect().held).toBeUndefined()
    join('ann', 'ben')
    await run(250)
    expect(status('ann-ben')).toBe('MATCH_FOUND')
  })

  test('tells a restarted matchmaker what to keep, what to stop and what to look for', async () => {
    const serverLog = createMemoryServerLog()
    const { clock, service, matchmaker, seen, run } = setUp({ serverLog })
    for (const [matchId, request] of [
      ['playing', true],
      ['starting', true],
      ['lost', false],
      ['never', false],
      ['unsent', false],
    ] as const) {
      await serverLog.append({
        kind: 'intent',
        matchId,
        queue: 'duel',
        tag: `match-${matchId}`,
        ticketIds: [],
        at: clock.now(),
      })
      if (matchId === 'unsent') continue
      await serverLog.append({ kind: 'sent', matchId, at: clock.now() })
      if (matchId === 'never') continue
      const { request_id } = await service.add(['mm-muster', `match-${matchId}`])
      if (request) await serverLog.append({ kind: 'created', matchId, requestId: request_id })
    }
    await serverLog.append({ kind: 'assigned', matchId: 'playing' })
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
    expect(await serverLog.open()).toMatchObject([{ matchId: 'playing' }])
  })
})
