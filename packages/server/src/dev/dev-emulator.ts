import { randomBytes, randomInt } from 'node:crypto'
import { Conflict, createClient } from '@muster/core'
import { seededRandom, systemClock } from '@muster/core/clock'
import {
  type Container,
  type ContainerSpec,
  createEmulator,
  type EmulatorOptions,
  type Launch,
  launchProcess,
} from '@muster/emulator'
import { defaultGameServerSettings, simulatedGameServers } from '@muster/emulator/internal'
import type { DeploymentService, Queue } from '@muster/matchmaker'
import type { Processes } from '../console/index.js'

/** Factor by which simulated time is faster. Servers start within a second or two. */
const SPEED = 5

/**
 * Emulator options for servers that are processes: they start immediately and get their whole grace period. Ports begin
 * at a random number, so that two programs on a machine seldom use the same ports.
 */
const ofProcesses = () => ({
  speed: 1,
  deployTimes: { seekMs: 100, cachedDeployMs: 100, deployMs: 100, spread: 0 },
  deployments: { processPorts: { from: randomInt(10_000, 20_000), to: 30_000 } },
})

interface DevEmulatorOptions {
  /** A free port; 0 for any. */
  readonly port: number
  readonly token: string
  /** Version of the emulated service. Default: that of the specification. */
  readonly as?: EmulatorOptions['as']
  /** Starts a process for each deployment. Undefined: servers are simulated. */
  readonly launch: Launch | undefined
}

/** A queue or a pool, of which only the deployed version is read. */
interface Deployed {
  readonly deploy: Pick<Queue['deploy'], 'application' | 'version'>
}

/** Starts the emulator. It listens on this machine only. */
export async function openDevEmulator({ port, token, as, launch }: DevEmulatorOptions) {
  /** Simulates a server of a pool in place of its container. Nothing listens on the server's port. */
  const play = simulatedGameServers(
    // Matches on a simulated server end only when Muster ends them.
    { ...defaultGameServerSettings, matchMs: Number.MAX_SAFE_INTEGER },
    { clock: systemClock, random: seededRandom(randomBytes(4).readUInt32LE()), speed: SPEED, fetch },
  )
  const simulate: Launch = (spec) => (spec.env['MUSTER_POOL'] === undefined ? register(spec) : play(spec))
  const emulator = createEmulator({
    ...(launch === undefined ? { speed: SPEED } : ofProcesses()),
    token,
    as,
    launch: launch ?? simulate,
  })
  const { url } = await emulator.listen({ port })
  const client = createClient({ baseUrl: url, token, settings: emulator.settings })
  const deployments: DeploymentService = client.deployments
  const made = new Set<string>()

  const make = async (what: string, create: () => Promise<unknown>) => {
    if (made.has(what)) return
    made.add(what)
    await create().catch((error: unknown) => {
      if (!(error instanceof Conflict)) throw error
    })
  }
  /** Creates the applications and versions that queues and pools deploy, if they do not exist. */
  const prepare = async (deployed: readonly Deployed[]) => {
    for (const { deploy } of deployed) {
      const { application, version } = deploy
      await make(application, () => client.applications.create({ name: application }))
      await make(`${application} ${version}`, () =>
        client.versions.create({
          app_name: application,
          name: version,
          docker_repository: 'registry.example.com',
          docker_image: 'studio/server',
          docker_tag: version,
          req_cpu: 256,
          req_memory: 512,
          ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],
        }),
      )
    }
  }
  return {
    url,
    settings: emulator.settings,
    deployments,
    prepare,
    close: async () => {
      await client.close()
      await emulator.close()
    },
  }
}

/** Registers a simulated server that serves one match. Nothing listens on the server's port. */
async function register({ env }: Pick<ContainerSpec, 'env'>): Promise<undefined> {
  const { MM_REGISTRATION_URL: url, MM_REGISTRATION_SECRET: secret, MM_MATCH_ID: match_id } = env
  if (url === undefined) return
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  // Errors are ignored: the request fails if the match was cancelled meanwhile, or while the program ends.
  await fetch(url, { method: 'POST', headers, body: JSON.stringify({ match_id }) }).catch(() => {})
}

/** The command that runs in place of a container. */
export interface LaunchCommand {
  /** The program and its arguments. */
  readonly command: readonly string[]
  /** The working directory, absolute. */
  readonly folder: string
}

/**
 * Creates the function that runs a command for each deployment.
 * @param tell called with each line that a process writes
 */
export function createProcesses(
  { command: [program = '', ...args], folder }: LaunchCommand,
  tell: (line: string, spec: ContainerSpec) => void,
): Processes & { readonly launch: Launch } {
  const running = new Map<string, Container>()
  const start = launchProcess(program, args, { cwd: folder, onLine: tell })
  return {
    launch: async (spec) => {
      const container = await start(spec)
      if (container === undefined) return undefined
      running.set(spec.request_id, container)
      void container.exited.then((code) => {
        running.delete(spec.request_id)
        tell(`has ended with exit code ${code}`, spec)
      })
      return container
    },
    has: (requestId) => running.has(requestId),
    output: (requestId) => running.get(requestId)?.logs(),
    kill: (requestId) => running.get(requestId)?.stop(0),
  }
}
