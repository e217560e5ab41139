/** Tests that the promise of a stop or of a report of leavers outlives the process, in every state of the server. */
import { InvalidInput, NoCapacity } from '@muster/core'
import { afterEach, describe, expect, test } from 'vitest'
import { Unavailable, UnknownMatch } from '../errors.js'
import { createWorlds, duel } from '../logged-matchmaker.fixture.js'
import { deploy, setUp } from '../matchmaker.fixture.js'
import { createMemoryServerLog, type ServerLog } from '@muster/hosting/internal'
import type { CallFault, ServiceOptions } from '@muster/hosting/service-fixture'

const { createWorld, removeAll } = createWorlds()
afterEach(removeAll)

const RECORDED = { until: 'recorded' } as const

const firstOf = (faults: Readonly<Record<string, CallFault>>): ServiceOptions['fault'] => {
  return (method, nth) => (nth === 1 ? faults[method] : undefined)
}
const noCapacity = { error: new NoCapacity('full', { requestId: 'r1' }), effect: true }

describe('a recorded stop of a match', () => {
  test.each<{ readonly phase: string; readonly ms: number; readonly service?: Partial<ServiceOptions> }>([
    { phase: 'creating', ms: 250, service: { latencyMs: () => 800 } },
    { phase: 'finding', ms: 500, service: { fault: firstOf({ create: { effect: true } }), listLagMs: 3000 } },
    { phase: 'retrying', ms: 250, service: { fault: firstOf({ create: noCapacity, stop: {} }) } },
    { phase: 'starting', ms: 2000 },
    { phase: 'warming', ms: 7000 },
    { phase: 'running', ms: 12_000 },
  ])(
    'if a stop of a match was recorded in the phase $phase, the next process carries it out',
    async ({ phase, service, ms }) => {
      const queue = { ...duel, deploy: { ...deploy, warmUpMs: 3000, requireCachedLocations: true } }
      const world = createWorld({ queues: [queue], ...(service && { service }) })
      const first = await world.live()
      first.join('ann', 'ben')
      await first.run(ms)
      const { matchId = '' } = first.matchmaker.getTicket('ann-ben') ?? {}
      expect(first.matchmaker.inspect().matches).toMatchObject([{ matchId, phase }])
      expect(first.matchmaker.inspect().matches[0]).not.toHaveProperty('stopReason')
      await first.matchmaker.stopMatch(matchId, RECORDED)
      const left = first.matchmaker.inspect().matches.filter((one) => one.matchId === matchId)
      expect(left).toMatchObject([{ stopReason: 'stopped' }])
      expect(world.servers()).toMatchObject([{ serverId: matchId, dropped: true, isUp: false }])
      expect(world.matches()).toEqual([])
      // The client did not receive the response, so it repeats the call.
      await first.matchmaker.stopMatch(matchId, RECORDED)
      world.kill()

      const next = await world.live()
      await next.run(250)
      expect(next.matchmaker.getTicket('ann-ben')?.matchId).not.toBe(matchId)
      await next.run(25_000)
      expect(next.seen.serverAssigned?.filter((one) => one.matchId === matchId) ?? []).toEqual([])
      const wanted = next.matchmaker.inspect().matches.map(({ requestId }) => requestId)
      expect(world.service.unstopped()).toEqual(wanted)
    },
  )

  test('a recorded stop of a match without a server is final: the next process does not make that match', async () => {
    const world = createWorld({ queues: [{ ...duel, acceptance: { withinMs: 20_000 } }] })
    const first = await world.live()
    first.join('ann', 'ben')
    await first.run(250)
    const { matchId = '' } = first.matchmaker.getTicket('ann-ben') ?? {}
    await first.matchmaker.stopMatch(matchId, RECORDED)
    await first.matchmaker.stopMatch(matchId, RECORDED)
    world.kill()
    const next = await world.live()
    await next.run(250)
    expect(next.matchmaker.getTicket('ann-ben')).toBeDefined()
    expect(next.matchmaker.getTicket('ann-ben')?.matchId).not.toBe(matchId)
  })
})

/** Creates a store that writes only when the test says so, or fails to write. */
function onSlowDisk() {
  const memory = createMemoryServerLog()
  const disk = { isFull: false, write: undefined as (() => void) | undefined }
  const serverLog: ServerLog = {
    open: () => memory.open(),
    append: async (entries) => {
      if (disk.isFull) throw new Error('no space left')
      if (entries.some(({ kind }) => kind === 'dropped' || kind === 'players'))
        await new Promise<void>((write) => (disk.write = write))
      await memory.append(entries)
    },
  }
  return { disk, serverLog }
}

describe.each([
  { command: 'stopMatch', call: { until: 'recorded' } },
  { command: 'playersLeft', call: ['ann'] },
] as const)('the command $command', ({ command, call }) => {
  const running = async () => {
    const { disk, serverLog } = onSlowDisk()
    const world = setUp({ serverLog })
    world.join('ann', 'ben')
    await world.run(8000)
    const { matchId = '' } = world.matchmaker.getTicket('ann-ben') ?? {}
    const repeat = () =>
      command === 'stopMatch' ? world.matchmaker.stopMatch(matchId, call) : world.matchmaker.playersLeft(matchId, call)
    return { ...world, disk, serverLog, matchId, repeat }
  }

  test('stopMatch and playersLeft resolve only once the store has recorded their effect', async () => {
    const { disk, serverLog, repeat } = await running()
    const before = await serverLog.open()
    let isRecorded = false
    const recorded = repeat().then(() => (isRecorded = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(isRecorded).toBe(false)
    expect(await serverLog.open()).toEqual(before)
    disk.write?.()
    await recorded
    expect(await serverLog.open()).not.toEqual(before)
  })

  test('stopMatch and playersLeft reject while the store cannot be written, and can be repeated', async () => {
    const { clock, disk, serverLog, run, repeat } = await running()
    const before = await serverLog.open()
    disk.isFull = true
    await expect(clock.until(repeat())).rejects.toThrow(Unavailable)
    await expect(clock.until(repeat())).rejects.toThrow(Unavailable)
    disk.isFull = false
    const retried = run(3000)
    await clock.until(retried)
    disk.write?.()
    await clock.until(repeat())
    expect(await serverLog.open()).not.toEqual(before)
  })

  test('stopMatch and playersLeft reject after 10 s if the disk hangs', async () => {
    const { clock, repeat } = await running()
    const startedAt = clock.now()
    await expect(clock.until(repeat())).rejects.toThrow(Unavailable)
    expect(clock.now() - startedAt).toBe(10_000)
  })

  test('stopMatch and playersLeft resolve for an ended match, and reject for an unknown match', async () => {
    const { matchmaker, run, join } = setUp({ serverLog: createMemoryServerLog() })
    join('ann', 'ben')
    await run(8000)
    const { matchId = '' } = matchmaker.getTicket('ann-ben') ?? {}
    await matchmaker.stopMatch(matchId)
    const ask = (id: string) =>
      (async () => {
        await (command === 'stopMatch' ? matchmaker.stopMatch(id, call) : matchmaker.playersLeft(id, call))
      })()
    await expect(ask(matchId)).resolves.toBeUndefined()
    await expect(ask('nope')).rejects.toThrow(UnknownMatch)
  })
})

test('an unknown option of stopMatch is refused by name', async () => {
  const { matchmaker } = setUp()
  const wrong = matchmaker.stopMatch('m', { until: 'soon' as never })
  await expect(wrong).rejects.toThrow(InvalidInput)
  await expect(wrong).rejects.toThrow('option until: must be "recorded" or "stopped", got "soon"')
})
