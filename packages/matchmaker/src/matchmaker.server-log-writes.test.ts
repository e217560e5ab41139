import { ServerError } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { setUp } from './matchmaker.fixture.js'
import { createMemoryServerLog, type HostingEntry, type ServerLog } from '@muster/hosting/internal'

describe('the log of servers', () => {
  test('a match is recorded in the server log before its players receive their assignment', async () => {
    const memory = createMemoryServerLog()
    let release = () => {}
    const serverLog: ServerLog = {
      open: () => memory.open(),
      append: async (entries) => {
        if (entries.some(({ kind }) => kind === 'playing')) await new Promise<void>((resolve) => (release = resolve))
        await memory.append(entries)
      },
    }
    const { run, join, status } = setUp({ serverLog })
    join('ann', 'ben')
    await run(8000)
    expect(status('ann-ben')).toBe('MATCH_FOUND')
    release()
    await run(250)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
  })

  test('the server log records a stop, so that a restart does not keep the server for its players', async () => {
    const memory = createMemoryServerLog()
    const { matchmaker, service, join, run } = setUp({
      serverLog: memory,
      service: { fault: (method) => (method === 'stop' ? { error: new ServerError('down') } : undefined) },
    })
    join('ann', 'ben')
    await run(8000)
    void matchmaker.stopMatch(matchmaker.getTicket('ann-ben')?.matchId ?? '').catch(() => {})
    await run(250)
    expect(await memory.open()).toMatchObject({ servers: [{ isUp: false, requestId: 'r1' }], matches: [] })
    expect(service.unstopped()).toEqual(['r1'])
  })

  /** Opens a store on a disk that may be full. */
  const onDisk = () => {
    const memory = createMemoryServerLog()
    const disk = { full: false }
    const append = async (entries: readonly HostingEntry[]): Promise<void> => {
      if (disk.full) throw new Error('no space left')
      await memory.append(entries)
    }
    return { disk, serverLog: { append, open: () => memory.open() } satisfies ServerLog }
  }

  test('while the server log is full, players are not sent to a READY server, and a restart keeps it', async () => {
    const { disk, serverLog } = onDisk()
    const { clock, matchmaker, service, seen, run, join, status } = setUp({ serverLog })
    join('ann', 'ben')
    await run(500)
    disk.full = true
    await run(7500)
    expect(matchmaker.inspect().matches).toMatchObject([{ phase: 'warming', requestId: 'r1' }])
    expect(status('ann-ben')).toBe('MATCH_FOUND')
    expect(matchmaker.inspect().blockedBy).toBe('store')
    expect(seen.problem?.every(({ during }) => during === 'store')).toBe(true)
    join('cas', 'dee')
    await run(1000)
    expect(matchmaker.explain('cas-dee').summary).toContain('the store cannot be written')
    disk.full = false
    await run(2000)
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect(status('cas-dee')).toBe('MATCH_FOUND')
    expect(matchmaker.inspect().blockedBy).toBeUndefined()
    const later = setUp({ serverLog, clock, deployments: service.deployments })
    for (let ticks = 0; ticks < 100; ticks++) {
      await later.matchmaker.tick()
      await clock.advance(250)
    }
    expect(service.unstopped()).toContain('r1')
  })

  test('if the server log stays full, the tickets search again and no player is sent to the server', async () => {
    const { disk, serverLog } = onDisk()
    const { service, seen, run, join } = setUp({ serverLog })
    join('ann', 'ben')
    await run(500)
    disk.full = true
    await run(40_000)
    expect(seen.serverAssigned).toBeUndefined()
    expect(seen.ticketRequeued).toMatchObject([{ reason: 'unavailable', ticket: { attempts: 0 } }])
    expect(service.unstopped()).toEqual([])
    disk.full = false
    await run(15_000)
    expect(seen.serverAssigned).toHaveLength(1)
    expect(await serverLog.open()).toMatchObject({ servers: { length: 1 }, matches: { length: 1 } })
  })

  test('the server log is closed after its last entry is written', async () => {
    const written: string[] = []
    const memory = createMemoryServerLog()
    const serverLog: ServerLog = {
      open: () => memory.open(),
      append: async (entries) => void written.push(entries.map(({ kind }) => kind).join('+')),
      close: () => void written.push('close'),
    }
    const { matchmaker, clock, join, run } = setUp({ serverLog })
    join('ann', 'ben')
    await run(8000)
    await clock.until(matchmaker.close({ stopServers: true }))
    const lives = ['match+server', 'sent', 'created', 'up+playing', 'dropped+over', 'gone', 'close']
    expect(written).toEqual(lives)
  })
})
