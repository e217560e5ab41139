import { resolve } from 'node:path'
import { ENDING_SIGNALS } from '@muster/core/internal'
import { describeQueue } from '@muster/matchmaker'
import { describePool, ENROLLED, poolCost, type PoolLoad, poolCostSentence } from '@muster/matchmaker/internal'
import { type Command, InvalidArgumentError } from 'commander'
import { type Config, type Finding, InvalidConfig, readConfig, type ReadConfig } from '../config/index.js'
import type { ServiceReading } from '../running/index.js'
import { capacityOf, capacitySentences } from './pool-capacity.js'
import { adviceOf } from './queue-advice.js'
import { countsOf, EXIT, type ExitCode, findingsText, paint, refusal, type Terminal } from './terminal.js'

interface CheckOptions {
  readonly config: string
  readonly json?: boolean
  readonly withoutSecrets?: boolean
  readonly live?: boolean
  readonly deploy?: boolean
  readonly matchesPerHour?: number
  readonly bootSeconds: number
  readonly matchMinutes: number
}

const LIKE_JSON = 'one JSON object on the standard output, for programs'
const NO_SECRETS = 'do not read environment variables, secret files and databases, e.g. in CI'

export const addCheck = (program: Command, terminal: Terminal, end: (code: ExitCode) => void): Command =>
  program
    .command('check')
    .description('check a configuration, and describe each queue in sentences')
    .option('-c, --config <file>', 'the configuration', 'muster.yaml')
    .option('--json', LIKE_JSON)
    .option('--without-secrets', NO_SECRETS)
    .option('--live', LIVE)
    .option('--deploy', DEPLOY)
    .option(
      '--matches-per-hour <number>',
      'matches an hour, to estimate the cost of each pool (default: 60, 600 and 6000)',
      amount,
    )
    .option('--boot-seconds <number>', 'seconds from the create of a server until it registers', amount, 20)
    .option('--match-minutes <number>', 'minutes that a match lasts', amount, 15)
    .action(async (options: CheckOptions) => end(await check(options, terminal)))

const LIVE = 'also test the service, its token and each source, by reads that cost nothing; fails if one does not work'
const DEPLOY = 'with --live: also create one server, wait until it is READY, and stop it'

/** Parses a number above 0. @throws {InvalidArgumentError} */
function amount(text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value > 0 && value <= 1_000_000) return value
  throw new InvalidArgumentError('The value must be a number above 0, and at most 1000000.')
}

/** Matches per hour for which pools are priced by default (our choice): few, some and many players. */
const LOADS = [60, 600, 6000]

function loadsOf({ matchesPerHour, bootSeconds, matchMinutes }: CheckOptions): readonly PoolLoad[] {
  const loads = matchesPerHour === undefined ? LOADS : [matchesPerHour]
  return loads.map((load) => ({ matchesPerHour: load, bootSeconds, matchSeconds: matchMinutes * 60 }))
}

/** Returns what a pool costs at each load. A pool whose servers all enrol creates none, so it costs nothing. */
const costsOf = (pool: Config['pools'][number], loads: readonly PoolLoad[]): readonly ReturnType<typeof poolCost>[] =>
  pool.source === ENROLLED ? [] : loads.map((load) => poolCost(pool, load))

/** Checks a configuration and prints what it means. */
async function check(options: CheckOptions, terminal: Terminal): Promise<ExitCode> {
  const { config, json, withoutSecrets, live, deploy } = options
  if (deploy === true && live !== true) return wrongOption('--deploy needs --live', terminal)
  if (live === true && withoutSecrets === true)
    return wrongOption('--live needs the token, so it cannot be used with --without-secrets', terminal)
  const loads = loadsOf(options)
  const path = resolve(terminal.folder, config)
  try {
    const read = await readConfig(path, { env: terminal.env, outside: withoutSecrets !== true })
    const { readings, works } = live === true ? await liveReadings(read.config, options, terminal) : NOT_ASKED
    if (json === true) terminal.say(asJson(config, read.warnings, read.config, loads, readings))
    else if (live !== true) tell(config, read, loads, terminal)
    else if (readings?.length === 0) terminal.say('Nothing to test: the configuration has no service and no sources.')
    return works ? EXIT.ok : EXIT.failed
  } catch (error) {
    if (json !== true || !(error instanceof InvalidConfig)) return refusal(error, terminal, config)
    terminal.say(asJson(config, error.findings))
    return EXIT.wrong
  }
}

const NOT_ASKED = { readings: undefined, works: true }

function wrongOption(what: string, terminal: Terminal): ExitCode {
  terminal.complain(`${paint(terminal.colours.complain).red('error')}: ${what}.`)
  return EXIT.wrong
}

/** Tests the deployment service, and prints each result as soon as it is known. */
async function liveReadings(config: Config, { json, deploy }: CheckOptions, terminal: Terminal) {
  const { checkLive } = await import('./live-check.js')
  const { green, red } = paint(terminal.colours.say)
  const readings: ServiceReading[] = []
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort(new Error('interrupted'))
  for (const signal of ENDING_SIGNALS) process.once(signal, interrupt)
  try {
    const works = await checkLive({
      config,
      deploys: deploy === true,
      announce: (text) => terminal.complain(text),
      said: (reading) => {
        readings.push(reading)
        if (json === true) return
        const { what, works: isRight, says } = reading
        terminal.say(`${isRight ? green('works') : red('fails')}  ${what}: ${says}`)
      },
      signal: interrupted.signal,
    })
    return { readings, works }
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, interrupt)
  }
}

function tell(file: string, { config, warnings }: ReadConfig, loads: readonly PoolLoad[], terminal: Terminal): void {
  if (warnings.length > 0) terminal.complain(`${findingsText(file, warnings, paint(terminal.colours.complain))}\n`)
  const { strong } = paint(terminal.colours.say)
  terminal.say(`${file} is valid${warnings.length === 0 ? '' : `, with ${countsOf(warnings)}`}.`)
  for (const queue of config.queues) {
    terminal.say(`\n${strong(queue.name)}`)
    for (const sentence of [...describeQueue(queue).sentences, ...adviceOf(queue)]) terminal.say(`  ${sentence}`)
  }
  const price = idlePrice(config)
  for (const pool of config.pools) {
    terminal.say(`\n${strong(`pool ${pool.name}`)}`)
    for (const sentence of [...describePool(pool), ...capacitySentences(capacityOf(pool, config))])
      terminal.say(`  ${sentence}`)
    for (const cost of costsOf(pool, loads)) terminal.say(`  ${poolCostSentence(cost)}${price(cost.idle)}`)
  }
}

/**
 * Returns a function that phrases the price of idle servers, given their average number. The phrase is empty without a
 * price.
 */
function idlePrice({ spending: { pricePerMinute, currency } }: Config): (idle: number) => string {
  return (idle) =>
    pricePerMinute === undefined || idle === 0
      ? ''
      : ` Idle servers cost ${(idle * pricePerMinute * 60).toFixed(2)} ${currency} an hour.`
}

function asJson(
  file: string,
  findings: readonly Finding[],
  config?: Config,
  loads: readonly PoolLoad[] = [],
  live?: readonly ServiceReading[],
): string {
  const queues = config?.queues.map((queue) => ({ name: queue.name, ...describeQueue(queue), advice: adviceOf(queue) }))
  const pools = config?.pools.map((pool) => ({
    name: pool.name,
    sentences: [...describePool(pool), ...capacitySentences(capacityOf(pool, config))],
    capacity: capacityOf(pool, config),
    costs: costsOf(pool, loads),
  }))
  const shown = findings.map((finding) => ({ ...finding, excerpt: undefined }))
  const result = {
    file,
    valid: config !== undefined,
    findings: shown,
    ...(queues && { queues, pools }),
    ...(live && { live }),
  }
  return JSON.stringify(result, null, 2)
}
