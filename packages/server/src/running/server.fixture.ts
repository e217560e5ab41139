import { type AddressInfo, createServer } from 'node:net'
import { createClient } from '@muster/core'
import { createEmulator, type Emulator, type EmulatorOptions } from '@muster/emulator'
import { Unavailable } from '@muster/matchmaker'
import { readConfigText } from '../config/read-config.js'
import { startServer, type MusterServer, type ServerDeps } from './start-server.js'

export const SERVICE_TOKEN = 'service-token-0815'
export const BACKEND_KEY = 'backend-key-of-the-game'
export const OPERATE_KEY = 'operate-key-of-live-ops'
export const JWT_SECRET = 'a-secret-of-at-least-32-characters'

/** Secrets that the configurations of tests refer to. */
export const env = { SERVICE_TOKEN, BACKEND_KEY, OPERATE_KEY, JWT_SECRET }

export const DUEL = `
  - name: duel
    matchSize: 2
    deploy: { application: my-game, version: '1.0' }
`

/** Turns off the refusal of requests under load. On a busy machine it would disturb tests of other subjects. */
const UNLIMITED = 'limits: { delayMs: unlimited }'

/** A configuration of the service at `url`, with a test's additions. */
export const yamlOf = (url: string, more = '', queues = DUEL): string => `
name: test
listen: { port: 0 }
service: { url: ${url}, token: { env: SERVICE_TOKEN } }
queues: ${queues}
auth:
  jwt: { secret: { env: JWT_SECRET }, claims: { role: role, attributes: { skill: mmr } } }
  keys:
    - { name: game-backend, role: backend, key: { env: BACKEND_KEY } }
    - { name: live-ops, role: operate, key: { env: OPERATE_KEY } }
${more}
${/^limits:/m.test(more) ? '' : UNLIMITED}
`

export const configOf = async (text: string) =>
  (await readConfigText(text, { path: '/nowhere/muster.yaml', env })).config

/** An emulator with the application of the tests. */
export async function openService(options: EmulatorOptions = {}): Promise<{ emulator: Emulator; url: string }> {
  const emulator = createEmulator({ token: SERVICE_TOKEN, speed: 50, ...options })
  const { url } = await emulator.listen()
  const client = createClient({ baseUrl: url, token: SERVICE_TOKEN })
  await client.applications.create({ name: 'my-game' })
  const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
  const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
  await client.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports })
  await client.close()
  return { emulator, url }
}

/** A port without a listener. */
export const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

/** The program and its output. */
export interface ServerUnderTest {
  readonly server: MusterServer
  readonly lines: string[]
  /** Sends a request with this token. */
  readonly ask: (method: string, path: string, options?: AskOptions) => Promise<Response>
}

interface AskOptions {
  readonly token?: string | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export async function openServer(text: string, deps: ServerDeps = {}): Promise<ServerUnderTest> {
  const lines: string[] = []
  const server = await startServer(await configOf(text), { write: (line) => lines.push(line), ...deps })
  await isRead(server)
  return { server, lines, ask: asker(server.url) }
}

/**
 * Resolves once the program has read the tickets of the previous process. Until then, reads reject with `Unavailable`.
 */
async function isRead({ service }: MusterServer): Promise<void> {
  try {
    await service.getTicket('none')
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    await new Promise((resolve) => setTimeout(resolve, 5))
    return isRead({ service } as MusterServer)
  }
}

const asker =
  (url: string): ServerUnderTest['ask'] =>
  (method, path, { token, body, headers } = {}) =>
    fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
