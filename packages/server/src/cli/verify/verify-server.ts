import { InvalidInput } from '@muster/core'
import { ENDING_SIGNALS } from '@muster/core/internal'
import type { Command } from 'commander'
import { assertOutputs, writeText } from '../output-file.js'
import { EXIT, type ExitCode, paint, type Terminal } from '../terminal.js'
import type { CheckLine } from './script.js'

interface VerifyArguments {
  readonly junit?: string | undefined
  readonly json?: boolean | undefined
  readonly client?: string | undefined
}

/** Adds `muster verify-server`. Its implementation is imported when the command runs. */
export const addVerify = (program: Command, terminal: Terminal, end: (code: ExitCode) => void): Command =>
  program
    .command('verify-server')
    .description('test whether a game server does everything that Muster requires of one')
    .argument('<command...>', 'starts the game server, after --: node server.js')
    .option('--junit <file>', 'write the results as JUnit XML, for CI')
    .option(
      '--client <command or URL>',
      "command or URL that connects as your game’s client does: 'node bot.js', or a POST for each client",
    )
    .option('--json', 'one JSON object on the standard output, for programs')
    .action(async (command: readonly string[], options: VerifyArguments) =>
      end(await verify(command, options, terminal)),
    )

async function verify(
  command: readonly string[],
  { junit, json, client }: VerifyArguments,
  terminal: Terminal,
): Promise<ExitCode> {
  await assertOutputs({ '--junit': junit }, [], terminal)
  const [{ openStage }, { playThrough }, { wordsOf }] = await Promise.all([
    import('./stage.js'),
    import('./script.js'),
    import('./bot.js'),
  ])
  const words = client === undefined || /^https?:\/\//.test(client) ? client : wordsOf(client)
  if (words?.length === 0) throw new InvalidInput('--client: must be a command, or a URL')
  // Exits at once: the emulator then kills the processes that it has started.
  const interrupted = () => process.exit(EXIT.interrupted)
  for (const signal of ENDING_SIGNALS) process.once(signal, interrupted)
  const lines: CheckLine[] = []
  const stage = await openStage({ command, folder: terminal.folder, env: terminal.env, client: words })
  try {
    await playThrough(stage, (line) => {
      lines.push(line)
      if (json !== true) terminal.say(lineText(line, terminal))
    })
  } finally {
    await stage.close()
    for (const signal of ENDING_SIGNALS) process.off(signal, interrupted)
  }
  const failed = lines.filter(({ outcome }) => outcome === 'FAIL').length
  if (json === true) terminal.say(JSON.stringify({ command, failed, lines }, null, 2))
  if (junit !== undefined) await writeText(junit, terminal, await asJunit(command, lines))
  return failed === 0 ? EXIT.ok : EXIT.failed
}

function lineText({ outcome, name, seconds, expected, came, read, why, note }: CheckLine, terminal: Terminal): string {
  const { green, red, yellow } = paint(terminal.colours.say)
  const noted = note === undefined ? '' : `: ${note}`
  if (outcome === 'ok') return `${green('ok  ')} ${name} (${seconds.toFixed(1)} s)${noted}`
  if (outcome === 'skip') return `${yellow('skip')} ${name} (${why})`
  const indented = came?.replaceAll('\n', '\n       ')
  return `${red('FAIL')} ${name}\n     expected: ${expected}\n     came: ${indented}\n     read: ${read}`
}

async function asJunit(command: readonly string[], lines: readonly CheckLine[]): Promise<string> {
  const { junitXml } = await import('@muster/lab')
  const results = lines.map(({ name, outcome, expected = '', came = '', read, why }) => ({
    name,
    path: [],
    failures: outcome === 'FAIL' ? [{ path: [], expected, instead: `${came}\n${read}` }] : [],
    skipped: why,
  }))
  return junitXml([{ file: command.join(' '), results, lineOf: () => undefined }], 'muster verify-server')
}
