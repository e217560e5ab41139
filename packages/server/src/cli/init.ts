import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { EXIT, type ExitCode } from './exit-codes.js'
import { SCHEMA_FILE, schemaText } from './schema.js'
import { templateOf } from './template.js'
import type { Terminal } from './terminal.js'

const CONFIG_FILE = 'muster.yaml'

export const addInit = (program: Command, terminal: Terminal, end: (code: ExitCode) => void): Command =>
  program
    .command('init')
    .description('write a configuration to begin with, explained by comments')
    .argument('[folder]', 'where to write it', '.')
    .option('--force', 'write over a configuration that is there')
    .action(async (folder: string, { force = false }: { force?: boolean }) => {
      end(await init({ folder, force }, terminal))
    })

/** Writes a configuration, and beside it the JSON Schema by which editors complete and check it. */
async function init(
  { folder, force }: { readonly folder: string; readonly force: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const into = resolve(terminal.folder, folder)
  const file = join(into, CONFIG_FILE)
  const shown = relative(terminal.folder, file)
  await mkdir(into, { recursive: true })
  const installed = installedSchema(into)
  try {
    await writeFile(file, templateOf(installed ?? `./${SCHEMA_FILE}`), { flag: force ? 'w' : 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    terminal.complain(`${shown} is there already, and was left as it is: --force writes over it.`)
    return EXIT.failed
  }
  if (installed === undefined) await writeFile(join(into, SCHEMA_FILE), schemaText())
  terminal.say(
    nextSteps(shown, installed === undefined ? relative(terminal.folder, join(into, SCHEMA_FILE)) : undefined),
  )
  return EXIT.ok
}

/** The schema of the package that is installed here, which is that of its version; undefined if none is. */
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
    `  3. muster check -c ${file}   says whether it is right, and what each queue means.`,
    `  4. muster serve -c ${file}   runs it.`,
    '',
    'What its rules do before players feel it: `muster lab`, with a crowd of players and with tests of rules.',
    'Without any configuration, `muster dev` shows all of it on this machine.',
  ].join('\n')
