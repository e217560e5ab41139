import { resolve } from 'node:path'
import { describeQueue } from '@muster/matchmaker'
import type { Command } from 'commander'
import { type Finding, InvalidConfig, readConfig, type ReadConfig } from '../config/index.js'
import { countsOf, EXIT, type ExitCode, findingsText, paint, refusal, type Terminal } from './terminal.js'

interface CheckOptions {
  readonly config: string
  readonly json?: boolean
  readonly withoutSecrets?: boolean
}

const LIKE_JSON = 'one JSON object on the standard output, for programs'
const NO_SECRETS = 'do not look at variables, files of secrets and databases, e.g. where they are not at hand'

export const addCheck = (program: Command, terminal: Terminal, end: (code: ExitCode) => void): Command =>
  program
    .command('check')
    .description('say whether a configuration is right, and what each queue means')
    .option('-c, --config <file>', 'the configuration', 'muster.yaml')
    .option('--json', LIKE_JSON)
    .option('--without-secrets', NO_SECRETS)
    .action(async (options: CheckOptions) => {
      end(await check(options, terminal))
    })

/** Checks a configuration and says what it means. */
async function check({ config, json, withoutSecrets }: CheckOptions, terminal: Terminal): Promise<ExitCode> {
  const path = resolve(terminal.folder, config)
  try {
    const read = await readConfig(path, { env: terminal.env, outside: withoutSecrets !== true })
    if (json === true) terminal.say(asJson(config, read.warnings, read))
    else tell(config, read, terminal)
    return EXIT.ok
  } catch (error) {
    if (json !== true || !(error instanceof InvalidConfig)) return refusal(error, terminal, config)
    terminal.say(asJson(config, error.findings))
    return EXIT.wrong
  }
}

function tell(file: string, { config, warnings }: ReadConfig, terminal: Terminal): void {
  if (warnings.length > 0) terminal.complain(`${findingsText(file, warnings, paint(terminal.colours.complain))}\n`)
  const { strong } = paint(terminal.colours.say)
  terminal.say(`${file} is right${warnings.length === 0 ? '' : `, with ${countsOf(warnings)}`}.`)
  for (const queue of config.queues) {
    terminal.say(`\n${strong(queue.name)}`)
    for (const sentence of describeQueue(queue).sentences) terminal.say(`  ${sentence}`)
  }
}

function asJson(file: string, findings: readonly Finding[], read?: ReadConfig): string {
  const queues = read?.config.queues.map((queue) => ({ name: queue.name, ...describeQueue(queue) }))
  const shown = findings.map((finding) => ({ ...finding, excerpt: undefined }))
  return JSON.stringify({ file, valid: read !== undefined, findings: shown, ...(queues && { queues }) }, null, 2)
}
