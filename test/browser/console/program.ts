import { createClient } from '@muster/core'
import { createEmulator } from '@muster/emulator'
import { readConfigText, startServer, type MusterServer, type ServerDeps } from '@muster/server'

const env = { SERVICE_TOKEN: 'service-token-0815', LOOK: 'look-key-of-support', OPERATE: 'operate-key-of-live-ops' }

/** API keys of the console's users. */
export const tokens = { look: env.LOOK, operate: env.OPERATE }

const yamlOf = (url: string, port: number) => `
name: my-game
listen: { port: ${port} }
service: { url: ${url}, token: { env: SERVICE_TOKEN } }
queues:
  - name: duel
    matchSize: 2
    rules:
      - kind: distance
        maxKm: 1000
    deploy: { application: my-game, version: '1.0' }
spending: { maxServers: 50, pricePerMinute: 0.002, currency: EUR }
auth:
  keys:
    - { name: support, role: look, key: { env: LOOK } }
    - { name: ops-team, role: operate, key: { env: OPERATE } }
`

export interface Program {
  readonly server: () => MusterServer
  readonly url: string
  /** Lines that the program has logged. */
  readonly lines: readonly string[]
  readonly restart: (whileAway: () => Promise<void>) => Promise<void>
  readonly close: () => Promise<void>
}

/** Worker threads run the files that `built.setup.ts` has built. */
const trialWorker = new URL('../../../packages/server/dist/console/trials/trial-worker.js', import.meta.url)

/** Starts the program over an emulator of the service. */
export async function openProgram(deps: ServerDeps = {}): Promise<Program> {
  const emulator = createEmulator({ token: env.SERVICE_TOKEN, speed: 50 })
  const { url } = await emulator.listen()
  const client = createClient({ baseUrl: url, token: env.SERVICE_TOKEN })
  await client.applications.create({ name: 'my-game' })
  const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
  const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
  await client.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports })
  await client.close()

  const lines: string[] = []
  const start = async (port: number) => {
    const { config } = await readConfigText(yamlOf(url, port), { path: '/nowhere/muster.yaml', env })
    return startServer(config, { write: (line) => lines.push(line), trialWorker, ...deps })
  }
  let server = await start(0)
  const { port } = new URL(server.url)
  return {
    server: () => server,
    url: `${server.url}/console/`,
    lines,
    restart: async (whileAway) => {
      await server.close()
      await whileAway()
      server = await start(Number(port))
    },
    close: async () => {
      await server.close()
      await emulator.close()
    },
  }
}
