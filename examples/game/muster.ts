/** Muster as the game uses it: two queues, and a pool of game servers that the emulator starts as processes. */
import { randomBytes, randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@muster/core'
import { createEmulator, launchProcess } from '@muster/emulator'
import { createMatchmaker, type Matchmaker, type QueueDefinition } from '@muster/matchmaker'

const pool = 'arena'
const rules = [
  // Players of very different ratings meet only after waiting.
  { kind: 'difference', attribute: 'mu', max: { from: 5, to: 60, overMs: 10_000 } },
] as const
const even = {
  // Teams are formed so that neither is sure to win.
  kind: 'balance',
  measure: 'predictedWin',
  mean: 'mu',
  uncertainty: 'sigma',
  max: { from: 0.7, to: 1, overMs: 5000 },
} as const
/** Number of players of a team, by queue. */
const sizes = { duel: 1, pairs: 2 }
const teamsOf = (size: number) => ['left', 'right'].map((name) => ({ name, size }))

const queues: readonly QueueDefinition[] = [
  { name: 'duel', pool, teams: teamsOf(sizes.duel), rules },
  { name: 'pairs', pool, teams: teamsOf(sizes.pairs), rules: [...rules, even] },
]

/** Returns the number of players in a match of a queue. */
export const playersIn = (queue: string): number => 2 * sizes[queue as keyof typeof sizes]

export interface MusterOptions {
  /** URL of the backend on this machine. */
  readonly url: string
  /** Variables of the game servers. */
  readonly env: Readonly<Record<string, string>>
  /** The secret that signs results. */
  readonly secret: string
}

export interface GameMuster {
  readonly matchmaker: Matchmaker
  readonly client: Client
  readonly close: () => Promise<void>
}

export async function startMuster({ url, env, secret }: MusterOptions): Promise<GameMuster> {
  const token = randomBytes(24).toString('base64url')
  const emulator = createEmulator({
    token,
    launch: launchProcess(process.execPath, [fileURLToPath(new URL('server.js', import.meta.url))], {
      env: { ...process.env, ...env },
    }),
    deployTimes: { seekMs: 100, deployMs: 300, cachedDeployMs: 200, terminateMs: 100, spread: 0 },
    // A random range of ports, so that two programs on one machine seldom use the same ports.
    deployments: { processPorts: { from: randomInt(10_000, 20_000), to: 30_000 } },
    relayData: true,
  })
  const client = createClient({ baseUrl: (await emulator.listen()).url, token })
  await client.applications.create({ name: 'puck' })
  const image = { docker_repository: 'registry.example.com', docker_image: 'studio/puck', docker_tag: '1' }
  const ports = [{ name: 'game', port: 7777, protocol: 'WS' }]
  await client.versions.create({ app_name: 'puck', name: '1', ...image, req_cpu: 512, req_memory: 512, ports })
  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    queues,
    pools: [
      {
        name: pool,
        deploy: { application: 'puck', version: '1' },
        places: [{ name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }],
        reuse: { maxMatches: 500 },
        keepIdleSeconds: 600,
      },
    ],
    apiUrl: `${url}/play`,
    results: { url: `${url}/results`, secret },
  })
  matchmaker.start()
  return {
    matchmaker,
    client,
    close: async () => {
      await matchmaker.close({ stopServers: true })
      await client.close()
      await emulator.close()
    },
  }
}
