import { createClient, inProcess } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { createEmulator, type EmulatorOptions } from '@muster/emulator'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { publishGame } from './game.js'

/** Opens a pool of simulated game servers that call the ticket API, on a manual clock. */
async function open(gameServers: EmulatorOptions['gameServers']) {
  const clock = createManualClock()
  let api: (request: Request) => Promise<Response> = async () => new Response(null, { status: 503 })
  const emulator = createEmulator({
    clock,
    page: false,
    limits: false,
    gameServers,
    deployTimes: { seekMs: 200, deployMs: 1000, cachedDeployMs: 1000, terminateMs: 300, spread: 0 },
    fetch: (url, init) => api(new Request(url, init)),
  })
  const client = createClient({
    baseUrl: 'http://emulator.invalid',
    token: 'dev',
    clock,
    random: seededRandom(1),
    dispatcher: inProcess((request) => emulator.fetch(request)),
  })
  await clock.until(publishGame(client))
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }],
    pools: [
      {
        name: 'arena',
        deploy: { application: 'game', version: '1' },
        places: [{ name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }],
        reuse: { maxMatches: 20 },
        at: [{ cron: '* * * * *', minutes: 2, min: 1 }],
        keepIdleSeconds: 20,
      },
    ],
    apiUrl: 'http://127.0.0.1:9/matchmaking',
    clock,
    random: seededRandom(2),
  })
  api = createTicketApi(matchmaker, { basePath: '/matchmaking', authenticate: () => undefined, clock })
  matchmaker.start()
  const seen = { over: 0, assigned: 0, lost: 0, waits: [] as number[] }
  matchmaker.on('matchOver', () => (seen.over += 1))
  matchmaker.on('deploymentFailed', ({ reason }) => (seen.lost += Number(reason === 'crashed')))
  matchmaker.on('serverAssigned', ({ tickets }) => {
    seen.assigned += tickets.length
    for (const { createdAt } of tickets) seen.waits.push(clock.now() - createdAt)
  })
  let count = 0
  const join = () => {
    count += 1
    const players = [`a${count}`, `b${count}`].map((id) => ({ id, ip: '192.0.2.7' }))
    return matchmaker.createTicket({ queue: 'duel', players }).id
  }
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) await clock.advance(250)
  }
  return {
    emulator,
    matchmaker,
    seen,
    join,
    run,
    living: () =>
      emulator.inspect().deployments.filter(({ current_status: status }) => !/TERMINAT/.test(String(status))),
    shut: async () => {
      await clock.until(matchmaker.close({ stopServers: true }))
      await run(5000)
      const left = emulator
        .inspect()
        .deployments.filter(({ current_status: status }) => !/TERMINAT/.test(String(status)))
      await client.close()
      await emulator.close()
      return left.length
    },
  }
}

describe('simulated game servers', () => {
  test('simulated servers register, play match after match with results, and end when ordered to', async () => {
    const { emulator, seen, join, run, living, shut } = await open({ matchMs: 10_000, spread: 0 })
    await run(10_000)
    expect(living()).toHaveLength(1)
    const waits = []
    for (let match = 0; match < 6; match += 1) {
      join()
      await run(12_000)
      waits.push(seen.waits.at(-1))
    }
    expect(seen).toMatchObject({ over: 6, assigned: 6 })
    // At most a tick and a round trip, which takes no time here, but no boot.
    for (const wait of waits) expect(wait).toBeLessThanOrEqual(500)
    expect(emulator.inspect().deployments.length).toBeLessThan(4)
    await run(40_000)
    expect(living()).toHaveLength(1)
    expect(await shut()).toBe(0)
  })

  test('every match ends although simulated servers crash, fall silent, refuse and report false data', async () => {
    const { matchmaker, emulator, seen, join, run, living, shut } = await open({
      matchMs: 8000,
      crash: 0.2,
      silent: 0.1,
      refuse: 0.2,
      lie: 0.05,
    })
    const ids: string[] = []
    for (let match = 0; match < 25; match += 1) {
      ids.push(join())
      await run(8000)
    }
    expect(seen.over).toBeGreaterThan(5)
    expect(seen.lost).toBeGreaterThan(0)
    expect(emulator.inspect().deployments.length).toBeGreaterThan(5)
    // Muster does not end matches on silent servers, so the operator ends them.
    for (const id of ids) {
      const { matchId, ended, status } = matchmaker.getTicket(id) ?? {}
      if (status === 'HOST_ASSIGNED' && ended === undefined) void matchmaker.stopMatch(matchId ?? '').catch(() => {})
    }
    await run(120_000)
    expect(living()).toHaveLength(1)
    expect(await shut()).toBe(0)
  })

  test('simulated servers refuse invalid settings by name', () => {
    expect(() => createEmulator({ gameServers: true, launch: () => undefined, token: 'mine' })).toThrow(
      'option gameServers: cannot be given with launch',
    )
    expect(() => createEmulator({ gameServers: { crash: 2 } })).toThrow('option gameServers')
  })
})
