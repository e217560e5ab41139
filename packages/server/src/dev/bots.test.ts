import { createClient, inProcess } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { beacons, createEmulator, places } from '@muster/emulator'
import { createMatchmaker, defineQueue, type MatchmakerEvents } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { botParty, createBots } from './bots.js'
import { readDevConfig } from './dev-config.js'

const spotOf = ({ location }: { readonly location: (typeof beacons)[number]['location'] }) => ({
  name: location.city,
  latitude: location.latitude,
  longitude: location.longitude,
})
const worldOf = (seed: number) => ({
  cities: places.map(spotOf),
  beacons: beacons.map(spotOf),
  random: seededRandom(seed),
})

const { config } = await readDevConfig({ path: undefined, port: 0, service: { url: 'http://localhost', token: 'dev' } })

async function setUp() {
  const clock = createManualClock()
  const emulator = createEmulator({ clock, limits: false })
  const client = createClient({
    baseUrl: 'http://emulator',
    token: 'dev',
    clock,
    dispatcher: inProcess(emulator.fetch),
  })
  await clock.until(client.applications.create({ name: 'my-game' }))
  const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
  const ports = [{ name: 'game', port: 7777, protocol: 'UDP' as const }]
  await clock.until(
    client.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports }),
  )
  const matchmaker = createMatchmaker({ deployments: client.deployments, queues: config.queues, clock })
  matchmaker.start()
  const problems: unknown[] = []
  const bots = createBots({
    service: () => matchmaker,
    queues: () => config.queues,
    world: worldOf(1),
    clock,
    onProblem: (error) => problems.push(error),
  })
  const counts: Partial<Record<keyof MatchmakerEvents, number>> = {}
  for (const name of ['serverAssigned', 'cancelled', 'playersLeft', 'deploymentStopped'] as const)
    matchmaker.on(name, () => (counts[name] = (counts[name] ?? 0) + 1))
  const end = async () => {
    await clock.until(bots.close())
    await clock.until(matchmaker.close({ stopServers: true }))
    await clock.until(client.close())
    await emulator.close()
  }
  return { clock, bots, counts, problems, end }
}

describe('the bots of muster dev', () => {
  test('the bots of muster dev arrive, play, leave, and are all gone in the end', async () => {
    const { clock, bots, counts, problems, end } = await setUp()
    bots.letIn(60)
    expect(bots.here()).toBe(60)
    for (let step = 0; step < 100; step += 1) await clock.advance(4000)
    expect(bots.here()).toBe(0)
    expect(problems).toEqual([])
    expect(counts.serverAssigned).toBeGreaterThan(5)
    expect(counts.cancelled).toBeGreaterThan(0)
    expect(counts.deploymentStopped).toBeGreaterThanOrEqual(counts.serverAssigned as number)
    await end()
  })

  test('the number of bots of muster dev is limited', async () => {
    const { bots, end } = await setUp()
    expect(() => bots.letIn(20_001)).toThrow('players must be at most 20000: 20000 bots at once')
    expect(() => bots.letIn(0)).toThrow('players must be a whole number from 1, got 0')
    bots.letIn(19_000)
    expect(() => bots.letIn(1001)).toThrow('players must be at most 1000')
    await end()
  })
})

test('a bot of muster dev has the attributes that each kind of rule compares', () => {
  const queue = defineQueue({
    name: 'all',
    matchSize: 2,
    rules: [
      { kind: 'difference', attribute: 'skill', max: 100 },
      { kind: 'equal', attribute: 'mode' },
      { kind: 'overlap', attribute: 'maps' },
      { kind: 'require', attribute: 'rank', operator: '>=', value: 10 },
      { kind: 'require', attribute: 'region', operator: 'in', value: ['eu', 'us'] },
      { kind: 'roles', roles: { tank: 1 } },
      { kind: 'latency', maxMs: 100 },
    ],
    deploy: { application: 'my-game', version: '1.0' },
  })
  const [bot] = botParty(queue, ['bot-1'], worldOf(7))
  expect(bot).toMatchObject({
    id: 'bot-1',
    attributes: { skill: expect.any(Number), mode: expect.any(String), rank: 11, region: 'eu' },
    roles: ['tank'],
  })
  expect(bot?.attributes?.['maps']).toContain('amber')
  expect(Object.keys(bot?.latencies ?? {})).toHaveLength(12)
})

test('a bot of muster dev has a rating on the scale of the rule that predicts the winner', () => {
  const rule = { kind: 'balance', measure: 'predictedWin', mean: 'mu', uncertainty: 'sigma', max: 0.6 } as const
  const bots = (more: object) => {
    const queue = defineQueue({
      name: 'ranked',
      teams: [{ name: 'team', count: 2, size: 1 }],
      rules: [{ ...rule, ...more }],
      deploy: { application: 'my-game', version: '1.0' },
    })
    return Array.from({ length: 50 }, () => botParty(queue, ['bot-1'], worldOf(7))[0]?.attributes)
  }
  for (const [more, mean, deviation] of [
    [{}, 25, 25 / 6],
    [{ beta: 250 }, 1500, 250],
  ] as const)
    for (const attributes of bots(more)) {
      expect(attributes?.['sigma']).toBeCloseTo(deviation)
      expect(Math.abs((attributes?.['mu'] as number) - mean)).toBeLessThan(deviation * 3)
    }
})
