import { resolve } from 'node:path'
import { readJson } from '@muster/core/internal'
import { type Command, InvalidArgumentError } from 'commander'
import { stringify } from 'yaml'
import { InvalidConfig, needTextFile, readConfigText } from '../../config/index.js'
import { unwritable, writeNew, writeText } from '../output-file.js'
import { EXIT, type ExitCode, findingsText, paint, refusal, type Terminal } from '../terminal.js'
import { importEdgegap } from './edgegap.js'
import { importFlexMatch } from './flexmatch.js'
import { importPlayFab } from './playfab.js'
import { type ImportedConfig, UnfitSource } from './source-file.js'
import { importUnity } from './unity.js'

const IMPORTERS: Readonly<Record<string, (source: unknown) => ImportedConfig>> = {
  edgegap: importEdgegap,
  flexmatch: importFlexMatch,
  unity: importUnity,
  playfab: importPlayFab,
}

interface ImportArguments {
  readonly output: string
  readonly force?: boolean
}

export const addImport = (program: Command, terminal: Terminal, end: (code: ExitCode) => void): Command =>
  program
    .command('import')
    .description('convert the configuration of another matchmaker, and list what is lost')
    .argument('<matchmaker>', `whose configuration it is: ${Object.keys(IMPORTERS).join(', ')}`, matchmakerOf)
    .argument('<file>', 'the configuration, as JSON')
    .option('-o, --output <file>', 'where to write it; - for the standard output', 'muster.yaml')
    .option('--force', 'write over a configuration that is there')
    .action(async (matchmaker: string, file: string, options: ImportArguments) =>
      end(await importFile(matchmaker, file, options, terminal)),
    )

/** Returns the name of a supported matchmaker. @throws {InvalidArgumentError} for any other name */
function matchmakerOf(name: string): string {
  if (Object.hasOwn(IMPORTERS, name)) return name
  throw new InvalidArgumentError(`The value must be one of ${Object.keys(IMPORTERS).join(', ')}.`)
}

/** Maximum size in bytes of another matchmaker's configuration (our choice). */
const LARGEST = 2 ** 22

async function importFile(
  matchmaker: string,
  file: string,
  { output, force = false }: ImportArguments,
  terminal: Terminal,
): Promise<ExitCode> {
  const { red } = paint(terminal.colours.complain)
  try {
    const source = readJson(
      await needTextFile(resolve(terminal.folder, file), file, LARGEST),
      (fault) => new UnfitSource(fault),
    )
    const imported = IMPORTERS[matchmaker]?.(source) as ImportedConfig
    const text = textOf(imported, file)
    const { warnings } = await readConfigText(text, { path: output, outside: false })
    for (const { path, message } of imported.lost) terminal.complain(`${path}: ${message}`)
    if (warnings.length > 0) terminal.complain(findingsText(output, warnings, paint(terminal.colours.complain)))
    if (output === '-') return (await terminal.put(text), EXIT.ok)
    if (force) await writeText(output, terminal, text)
    else await writeNew(resolve(terminal.folder, output), text)
    terminal.say(nextSteps(output, imported))
    return EXIT.ok
  } catch (error) {
    if (error instanceof UnfitSource) {
      terminal.complain(`${red('error')}: ${file}: ${error.message}`)
      return EXIT.wrong
    }
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof InvalidConfig && error.file === output)
      return refusal(error, terminal, `the translation of ${file}`)
    if (code !== 'EEXIST') return refusal(code === undefined ? error : unwritable(error, output), terminal)
    terminal.complain(`${output} exists already and was not changed: --force overwrites it.`)
    return EXIT.failed
  }
}

const EXPLAINED = `# Written by muster import. \`muster check\` says what each queue means in plain words.

# Servers of this program have the tag mm-<name>. Another program of the same account needs another name.
`

/** Returns the text of the new configuration. Comments list everything lost. Secrets are read from the environment. */
function textOf({ game, queues, sections, lost }: ImportedConfig, file: string): string {
  const config = {
    name: game.replaceAll(/[^\w-]/g, '-').slice(0, 32) || 'game',
    listen: { host: '127.0.0.1', port: 8080 },
    service: { url: 'https://api.example.com', token: { env: 'MUSTER_TOKEN' } },
    queues,
    auth: AUTH,
    store: { folder: './muster-data' },
    ...sections,
  }
  const losses = lost.map(({ path, message }) => commentOf(`${path}: ${message}`))
  const comments = losses.length === 0 ? [] : ['', commentOf(`Lost from ${file}, or different:`), ...losses]
  const yaml = stringify(config, { lineWidth: 100, aliasDuplicateObjects: false })
  return `${EXPLAINED}${yaml}${comments.map((line) => `${line}\n`).join('')}`
}

/**
 * The section `auth` of the new configuration. All players share one token, as in the other matchmaker. The game's
 * backend and the operators of the console have keys.
 */
const AUTH = {
  shared: { token: { env: 'MUSTER_PLAYER_TOKEN' }, key: { env: 'MUSTER_PLAYER_KEY' } },
  keys: [
    { name: 'game-backend', role: 'backend', key: { env: 'MUSTER_BACKEND_KEY' } },
    { name: 'operator', role: 'operate', key: { env: 'MUSTER_OPERATOR_KEY' } },
  ],
}

/** Returns any text as a comment on one line. */
const commentOf = (text: string) => `# - ${text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')}`

const nextSteps = (file: string, { queues, lost }: ImportedConfig) =>
  [
    `Wrote ${file}: ${queues.length === 1 ? 'one queue' : `${queues.length} queues`}${
      lost.length === 0
        ? '; nothing is lost.'
        : `; ${lost.length === 1 ? 'one thing is' : `${lost.length} things are`} lost or different, see its last lines.`
    }`,
    'Next: write the URL of your service into it, set the variables that it names, and run muster check --live',
  ].join('\n')
