import { parseArgs } from 'node:util'
import { seededRandom } from '@muster/core/clock'
import type { ListenOptions } from './http/index.js'
import { algorithms, type LimitAlgorithm } from './rate-limits.js'
import type { EmulatorOptions } from './options.js'

export const usage = `Usage: muster-emulator [options]

Serves the whole service on this machine. Prints its URL as the first line. Ends by SIGINT, SIGTERM or SIGHUP, or when
the npx or pnpm that started it ends.

  --port <number>      port to listen on; 0, the default, for any free one
  --host <address>     address to listen on (default 127.0.0.1)
  --allow-host <name>  host name that callers may use, besides addresses and localhost; can be repeated
  --token <text>       API token that callers must send (default dev)
  --as <service>       specification (default), or observed: with the differences of a public deployment
  --speed <factor>     how many times faster the service's own durations pass (default 1)
  --seed <number>      seed of all random choices (default 1)
  --limits <algorithm> sliding-log (default), fixed-window, token-bucket or none
  --retry-after <form> form of the Retry-After header of a 429: seconds (default), date or none
  --latency <ms>       network time of each request, there and back (default 0)
  --jitter <ms>        random extra network time of each request, at most this (default 0)
  --capacity <number>  maximum number of deployments at once at each place (default: no limit)
  --relay <address>    where relay sessions carry packets over UDP (default 127.0.0.1), or none
  --beacons <address>  where ping beacons answer, by UDP and TCP (default 127.0.0.1), or none
  --ping-from <coords> latitude,longitude of the players: beacons delay answers as from there (default: no delay)
  --webhooks <hosts>   hosts that webhooks are sent to: loopback (default) or any
  --image <name:tag>   an image in the service's own registry; can be repeated
  --faults <file>      JSON: a list of declared faults
  --end-with-parent    also ends when its parent process has ended, whatever that is
  --help               shows this
`

const flags = {
  port: { type: 'string' },
  host: { type: 'string' },
  'allow-host': { type: 'string', multiple: true },
  token: { type: 'string' },
  as: { type: 'string' },
  speed: { type: 'string' },
  seed: { type: 'string' },
  limits: { type: 'string' },
  'retry-after': { type: 'string' },
  latency: { type: 'string' },
  jitter: { type: 'string' },
  capacity: { type: 'string' },
  relay: { type: 'string' },
  beacons: { type: 'string' },
  'ping-from': { type: 'string' },
  webhooks: { type: 'string' },
  image: { type: 'string', multiple: true },
  faults: { type: 'string' },
  'end-with-parent': { type: 'boolean' },
  help: { type: 'boolean' },
} as const

/** Milliseconds from a relay peer's first ping until it is valid: about what real services take. */
const AUTH_DELAY_MS = 1500

export interface CommandLine {
  readonly help: boolean
  /** True if the emulator ends with the process that started it. */
  readonly endWithParent: boolean
  readonly emulator: EmulatorOptions
  readonly listen: ListenOptions
}

/**
 * Parses the command line. `createEmulator` checks the ranges of the values.
 * @param readFile reads a file named on the command line.
 * @throws TypeError naming the invalid flag.
 */
export function readCommandLine(args: readonly string[], readFile: (path: string) => string): CommandLine {
  const { values } = parseArgs({ args: [...args], options: flags })
  const number = (flag: 'port' | 'speed' | 'seed' | 'latency' | 'jitter' | 'capacity') => numberOf(flag, values[flag])
  const port = number('port')
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw new TypeError(`--port must be a port number, got ${port}`)
  }
  return {
    help: values.help ?? false,
    endWithParent: values['end-with-parent'] ?? false,
    listen: { port, host: values.host, allowedHosts: values['allow-host'] },
    emulator: {
      token: values.token,
      as: serviceOf(values.as),
      speed: number('speed'),
      random: seededRandom(number('seed') ?? 1),
      limits: limitsOf(values.limits, values['retry-after']),
      latencyMs: number('latency'),
      jitterMs: number('jitter'),
      capacity: number('capacity'),
      relayData: values.relay === 'none' ? false : { host: values.relay, authDelayMs: AUTH_DELAY_MS },
      beacons: values.beacons === 'none' ? false : { host: values.beacons, from: coordinatesOf(values['ping-from']) },
      deployments: { webhookHosts: webhookHostsOf(values.webhooks) },
      images: values.image?.map(imageOf),
      faults: values.faults === undefined ? undefined : faultsOf(values.faults, readFile),
    },
  }
}

function numberOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number))
    throw new TypeError(`--${flag} must be a number, got ${JSON.stringify(text)}`)
  return number
}

function limitsOf(algorithm: string | undefined, retryAfter: string | undefined): EmulatorOptions['limits'] {
  if (algorithm === 'none') return false
  const known = (algorithm ?? 'sliding-log').replace('-', ' ')
  if (!isAlgorithm(known))
    throw new TypeError(`--limits must be sliding-log, fixed-window, token-bucket or none, got ${algorithm}`)
  if (retryAfter === 'none') return { algorithm: known, retryAfter: false }
  if (retryAfter === undefined || retryAfter === 'seconds' || retryAfter === 'date')
    return { algorithm: known, retryAfter }
  throw new TypeError(`--retry-after must be seconds, date or none, got ${retryAfter}`)
}

const isAlgorithm = (name: string): name is LimitAlgorithm => Object.hasOwn(algorithms, name)

function serviceOf(name: string | undefined) {
  if (name === undefined || name === 'specification' || name === 'observed') return name
  throw new TypeError(`--as must be specification or observed, got ${name}`)
}

function webhookHostsOf(hosts: string | undefined) {
  if (hosts === undefined || hosts === 'loopback' || hosts === 'any') return hosts
  throw new TypeError(`--webhooks must be loopback or any, got ${hosts}`)
}

function coordinatesOf(text: string | undefined) {
  if (text === undefined) return undefined
  const parts = text.split(',')
  const [latitude = NaN, longitude = NaN] = parts.map((part) => (part.trim() === '' ? NaN : Number(part)))
  if (parts.length === 2 && Number.isFinite(latitude) && Number.isFinite(longitude)) return { latitude, longitude }
  throw new TypeError(`--ping-from must be latitude,longitude in degrees, got ${JSON.stringify(text)}`)
}

function imageOf(text: string) {
  const colon = text.lastIndexOf(':')
  if (colon < 1 || colon === text.length - 1)
    throw new TypeError(`--image must be name:tag, got ${JSON.stringify(text)}`)
  return { image: text.slice(0, colon), tag: text.slice(colon + 1) }
}

function faultsOf(path: string, readFile: (path: string) => string): EmulatorOptions['faults'] {
  try {
    return JSON.parse(readFile(path)) as EmulatorOptions['faults']
  } catch (cause) {
    throw new TypeError(`--faults: ${path} cannot be read as JSON`, { cause })
  }
}
