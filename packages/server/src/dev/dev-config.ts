import type { Queue } from '@muster/matchmaker'
import { ENROLLED } from '@muster/matchmaker/internal'
import { type Config, needTextFile, readWithDefaults, Secret } from '../config/index.js'

/**
 * The configuration of `muster dev` without a file: three queues that show most features of queues. In each queue, the
 * rules relax until two players are enough for a match.
 */
const devYaml = `
name: dev
queues:
  - name: duel
    matchSize: 2
    mode: arrival
    rules:
      - kind: distance
        maxKm: [{ afterMs: 0, value: 800 }, { afterMs: 5000, value: 2500 }, { afterMs: 15000, value: 8000 }]
      - { kind: difference, attribute: skill, max: { from: 60, to: 600, overMs: 20000 } }
    lastResortMs: 30000
    deploy: { application: my-game, version: '1.0' }

  - name: ranked
    teams:
      - { name: team, count: 2, size: { min: [{ afterMs: 0, value: 5 }, { afterMs: 10000, value: 1 }], max: 5 } }
    rules:
      - kind: distance
        maxKm: [{ afterMs: 0, value: 1500 }, { afterMs: 6000, value: 4000 }, { afterMs: 12000, value: 12000 }]
      - { kind: difference, attribute: skill, max: { from: 200, to: 800, startMs: 3000, overMs: 10000 } }
      - { kind: roles, roles: { tank: 1, healer: 1 } }
      - { kind: balance, attribute: skill, max: { from: 60, to: 300, overMs: 10000 } }
    lastResortMs: 10000
    acceptance: { withinMs: 20000 }
    deploy: { application: my-game, version: '1.0' }

  - name: social
    teams:
      - name: crew
        size: { min: [{ afterMs: 0, value: 8 }, { afterMs: 10000, value: 4 }, { afterMs: 20000, value: 2 }], max: 12 }
    rules:
      - kind: distance
        maxKm: [{ afterMs: 0, value: 2000 }, { afterMs: 15000, value: 6000 }]
      - { kind: overlap, attribute: maps }
    lastResortMs: 60000
    deploy: { application: my-game, version: '1.0' }

spending: { pricePerMinute: 0.0015, currency: USD, maxServers: 5000, maxStarting: 1000 }
lobbies: { enabled: true }
telemetry: { log: { format: text } }
`

interface DevConfig {
  readonly config: Config
  /** Sections of the file that `muster dev` ignores, although players or the backend would notice their effect. */
  readonly leftOut: readonly string[]
}

type ServiceConfig = NonNullable<Config['service']>

interface DevConfigOptions {
  /** Path of the game's configuration; undefined for the built-in example. */
  readonly path: string | undefined
  /** A free port, or 0 for any. */
  readonly port: number
  /** The emulator that replaces the deployment service. */
  readonly service: { readonly url: string; readonly token: string; readonly settings?: ServiceConfig['settings'] }
}

/** The default of the section `service`: a file may omit the section, because the emulator replaces the service. */
const SERVICE = { url: 'http://localhost', token: { env: 'UNUSED' } }

/** Origins of web pages that may call the APIs: those of this machine, on any port. */
const OWN_PAGES = ['http://localhost:*', 'http://127.0.0.1:*', 'http://[::1]:*']

/** Maximum number of long polls and streams. Any machine allows enough file descriptors for them. */
const MOST_WAITS = 2000

/**
 * Reads the configuration that `muster dev` runs: the file with replacements, so that no secret is needed. The emulator
 * replaces the deployment service. Everything is stored in memory. One token replaces the sections `auth` and
 * `profiles`. `servers`, `sources` and `results` are ignored. Webhooks and server registrations are sent to this
 * program. Pages of this machine may call it.
 * @throws {InvalidConfig} with all faults of the file
 */
export async function readDevConfig({ path, port, service }: DevConfigOptions): Promise<DevConfig> {
  const text = path === undefined ? devYaml : await needTextFile(path)
  const options = { path: path ?? 'muster.yaml', outside: false }
  const { config } = await readWithDefaults(text, { service: SERVICE }, options)
  const { telemetry, service: ofFile } = config
  if (ofFile === undefined) throw new Error('the configuration of muster dev has no service')
  const url = `http://127.0.0.1:${port}`
  const own: Config = {
    ...config,
    queues: config.queues.map(registeringHere),
    pools: config.pools.map(deployedHere).map(registeringHere).map(withDevKeys),
    listen: { host: '127.0.0.1', port, publicUrl: url },
    limits: { ...config.limits, waits: config.limits.waits ?? MOST_WAITS },
    webhook: { ...config.webhook, enabled: true },
    cors: { origins: [...config.cors.origins, ...OWN_PAGES] },
    service: {
      ...ofFile,
      url: service.url,
      token: new Secret(service.token),
      share: 1,
      settings: service.settings ?? ofFile.settings,
    },
    store: { kind: 'memory' },
    auth: { jwt: undefined, keys: [] },
    profiles: undefined,
    servers: undefined,
    results: undefined,
    // No source is opened, because a source needs secrets. The emulator deploys all servers instead.
    sources: {},
    console: { ...config.console, editDeploy: true },
    streamTokens: { ...config.streamTokens, key: undefined },
    telemetry: { log: { ...telemetry.log, format: 'text' }, metrics: { ...telemetry.metrics, key: undefined } },
  }
  const { jwt, shared, keys } = config.auth
  const leftOut = {
    auth: jwt !== undefined || shared !== undefined || keys.length > 0,
    profiles: config.profiles !== undefined,
    servers: config.servers !== undefined,
    sources: Object.keys(config.sources).length > 0,
    results: config.results !== undefined,
  }
  return { config: own, leftOut: Object.entries(leftOut).flatMap(([section, isThere]) => (isThere ? section : [])) }
}

/** Removes a pool's source, because the emulator deploys its servers. Pools of enrolled servers stay unchanged. */
const deployedHere = (pool: Config['pools'][number]): Config['pools'][number] =>
  pool.source === ENROLLED ? pool : { ...pool, source: undefined }

/** Makes servers register with this program, whatever URL the file states. */
const registeringHere = <Deployed extends Pick<Queue, 'deploy'>>(deployed: Deployed): Deployed => {
  const { deploy } = deployed
  if (deploy.probe?.kind !== 'registration') return deployed
  return { ...deployed, deploy: { ...deploy, probe: { ...deploy.probe, url: undefined } } }
}

/** Replaces enrolment keys by fixed, publicly known ones, so that no secret is read. */
const withDevKeys = (pool: Config['pools'][number], nth: number): Config['pools'][number] => ({
  ...pool,
  enrol: pool.enrol.map((one, index) => ({
    ...one,
    key: new Secret(`muster-dev-enrolment-key-of-pool-${nth}-${index}`),
  })),
})
