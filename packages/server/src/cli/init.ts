import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { makeFolder } from '@muster/core/internal'
import type { Command } from 'commander'
import { packageFile } from '../version.js'
import { unwritable, writeNew, writeText } from './output-file.js'
import { EXIT, type ExitCode, type Terminal } from './terminal.js'

/** The file name of the configuration's JSON Schema, in this package and beside a user's configuration. */
const SCHEMA_FILE = 'muster.schema.json'

/** Returns the JSON Schema of the configuration. */
const schemaText = (): string => packageFile(SCHEMA_FILE)

export const addSchema = (program: Command, terminal: Terminal): Command =>
  program
    .command('schema')
    .description('print the JSON Schema of the configuration, for editors')
    .action(() => terminal.say(schemaText().trimEnd()))

/**
 * Returns the configuration that `muster init` writes.
 * @param schema the path of the JSON Schema, relative to the file.
 */
export const templateOf = (schema: string): string => `# yaml-language-server: $schema=${schema}

# The configuration of Muster. \`muster check\` checks it and describes each queue in sentences;
# \`muster serve -c muster.yaml\` runs it, and applies changes of this file while it runs.

# Servers of this program have the tag mm-my-game. Another program of the same account needs another name.
name: my-game

listen:
  host: 127.0.0.1 # 0.0.0.0 for every address of this machine
  port: 8080
  # Where players and the service reach this program, through a proxy that ends TLS:
  # publicUrl: https://matchmaking.example.com

# The service that runs the game servers. Do not write secrets into this file: take them from the environment
# ({ env: NAME }) or from another file ({ file: path }).
service:
  url: https://api.example.com
  token: { env: MUSTER_TOKEN }

queues:
  # Two players. At first they must be near each other and about equally good. Both limits grow while they wait.
  - name: duel
    matchSize: 2
    rules:
      - kind: distance
        maxKm: # each step: the limit in km after this many milliseconds of waiting
          - { afterMs: 0, value: 1000 }
          - { afterMs: 10000, value: 3000 }
          - { afterMs: 30000, value: .inf } # anywhere
        missing: any # a player whose place is unknown meets anyone
      - kind: difference
        attribute: skill # a claim of the player's token, see auth
        max: { from: 100, to: 500, overMs: 30000 } # grows evenly over 30 seconds
        missing: { value: 1000 } # the skill of players whose token has none
    deploy:
      application: my-game
      version: '1'

  # Five against five, in two teams of similar skill.
  - name: 5v5
    teams:
      - { name: team, count: 2, size: 5 }
    rules:
      - kind: distance
        maxKm: [{ afterMs: 0, value: 1500 }, { afterMs: 20000, value: 5000 }, { afterMs: 60000, value: .inf }]
        missing: any
      - kind: difference
        attribute: skill
        max: [{ afterMs: 0, value: 200 }, { afterMs: 20000, value: 400 }, { afterMs: 60000, value: 1000 }]
        missing: { value: 1000 }
      - kind: balance # between the average skill of the two teams
        attribute: skill
        max: [{ afterMs: 0, value: 50 }, { afterMs: 30000, value: 150 }]
        missing: { value: 1000 }
      - kind: avoid # nobody meets whom they avoid
        hard: true # also after lastResortMs
    lastResortMs: 120000 # after two minutes only hard rules count
    acceptance: { withinMs: 15000 } # players must accept before a server is started
    playerMayState: [avoid] # what players may state themselves; skill comes from the token
    deploy:
      application: my-game
      version: '1'

# Instead of deploy, a queue may name a pool. Its servers run several matches, and some are kept warm, so that players
# need not wait for a boot. \`muster check\` prints the cost. The servers must report to Muster: see docs/servers.md.
# pools:
#   - name: arena
#     deploy: { application: my-game, version: '1' }
#     warm: { hit: 0.95, max: 5 } # 95 % of matches find a warm server
#     reuse: { maxMatches: 20 }

# Limits of what a mistake can cost.
spending:
  maxServers: 100
  maxCreatesPerMinute: 60

# Who may call.
auth:
  # Players, by the tokens of your login:
  jwt:
    secret: { env: MUSTER_JWT_SECRET } # or the address of its public keys: jwks: https://login.example.com/keys.json
    claims:
      id: sub
      attributes: { skill: skill } # attribute: claim
  # Backends, and people at the console:
  keys:
    - { name: game-backend, role: backend, key: { env: MUSTER_BACKEND_KEY } }
    - { name: operator, role: operate, key: { env: MUSTER_OPERATOR_KEY } }

# Waiting tickets and running servers are stored here, so that a restart loses none.
store: { folder: ./muster-data }

# Behind a proxy: the addresses of the proxies, which may state the address of a player.
# addresses: { trustedProxies: [10.0.0.0/8] }

# Finds the places of players by their addresses, in a city database of MaxMind's format:
# locate: { file: ./GeoLite2-City.mmdb }
`

const CONFIG_FILE = 'muster.yaml'

export const addInit = (program: Command, terminal: Terminal, end: (code: ExitCode) => void): Command =>
  program
    .command('init')
    .description('write a configuration with comments, to begin with')
    .argument('[folder]', 'where to write it', '.')
    .option('--force', 'write over a configuration that is there')
    .action(async (folder: string, { force = false }: { force?: boolean }) =>
      end(await init({ folder, force }, terminal)),
    )

/** Writes a configuration, and beside it the JSON Schema that editors use to complete and check it. */
async function init(
  { folder, force }: { readonly folder: string; readonly force: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const into = resolve(terminal.folder, folder)
  const file = join(into, CONFIG_FILE)
  const shown = relative(terminal.folder, file)
  await makeFolder(into).catch((error: NodeJS.ErrnoException) => {
    throw unwritable(error, `The folder ${relative(terminal.folder, error.path ?? into)}`, 'created')
  })
  const installed = installedSchema(into)
  const text = templateOf(installed ?? `./${SCHEMA_FILE}`)
  try {
    if (force) await writeText(shown, terminal, text)
    else await writeNew(file, text)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw code === undefined ? error : unwritable(error, shown)
    terminal.complain(`${shown} exists already and was not changed: --force overwrites it.`)
    return EXIT.failed
  }
  const schema = relative(terminal.folder, join(into, SCHEMA_FILE))
  if (installed === undefined) await writeText(schema, terminal, schemaText())
  terminal.say(nextSteps(shown, installed === undefined ? schema : undefined))
  return EXIT.ok
}

/**
 * Returns the path of the JSON Schema in the installed package, whose version it fits; undefined if the package is not
 * installed.
 */
function installedSchema(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, 'node_modules', '@muster', 'server', SCHEMA_FILE)
    if (existsSync(path))
      return relative(folder, path)
        .replaceAll('\\', '/')
        .replace(/^(?!\.)/, './')
    if (dirname(at) === at) return undefined
  }
}

const nextSteps = (file: string, schema: string | undefined) =>
  [
    `Wrote ${file}${schema === undefined ? '' : `, and ${schema}, by which editors complete it`}.`,
    '',
    'Next:',
    `  1. Write into it where your service is, what your game is called there, and who may call.`,
    '  2. Set the variables that it names: MUSTER_TOKEN, MUSTER_JWT_SECRET, MUSTER_BACKEND_KEY, MUSTER_OPERATOR_KEY.',
    `  3. muster check -c ${shellWord(file)}   checks it and describes each queue.`,
    `  4. muster serve -c ${shellWord(file)}   runs it.`,
    '',
    'To see what the rules do before players meet them, use `muster lab`: it simulates players and tests rules.',
    'Without any configuration, `muster dev` shows all of it on this machine.',
  ].join('\n')

/** Returns a file name as one word of a command line. */
function shellWord(text: string): string {
  if (/^[\p{L}\p{N}_./\\:@%+,-]+$/u.test(text)) return text
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", String.raw`'\''`)}'` : `"${text}"`
}
