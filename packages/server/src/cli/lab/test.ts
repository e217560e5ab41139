import type { SceneResult, SceneSuite } from '@muster/lab'
import type { Command } from 'commander'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { findingsText } from '../findings.js'
import { refusal } from '../refusal.js'
import { paint, type Terminal } from '../terminal.js'
import type { AddLabCommand } from './add-lab-command.js'
import { writeProduct } from './product.js'
import { readScenes, WrongFile, type ScenesFile } from './scenes-file.js'

interface TestOptions {
  readonly queues?: string | undefined
  readonly only?: string | undefined
  readonly junit?: string | undefined
  readonly json?: boolean | undefined
  readonly schema?: boolean | undefined
}

export const addTest: AddLabCommand = (lab: Command, terminal: Terminal, end: (code: ExitCode) => void): Command =>
  lab
    .command('test')
    .description('hold rules against scenes: who must be matched with whom, and when')
    .argument('[files...]', 'the scenes', ['scenes.yaml'])
    .option('-q, --queues <file>', 'the queues, in place of those that the scenes name')
    .option('--only <text>', 'run only scenes whose name contains this')
    .option('--junit <file>', 'write the results as JUnit XML, for CI')
    .option('--json', 'one JSON object on the standard output, for programs')
    .option('--schema', 'print the JSON Schema of scenes, for editors')
    .action(async (files: readonly string[], options: TestOptions) => {
      end(options.schema === true ? await printSchema(terminal) : await test(files, options, terminal))
    })

async function printSchema(terminal: Terminal): Promise<ExitCode> {
  const { scenesJsonSchema } = await import('@muster/lab')
  terminal.say(JSON.stringify(scenesJsonSchema(), null, 2))
  return EXIT.ok
}

/** Runs scenes and says what became of them. */
async function test(files: readonly string[], options: TestOptions, terminal: Terminal): Promise<ExitCode> {
  const { junitXml } = await import('@muster/lab')
  const suites: SceneSuite[] = []
  for (const file of files) suites.push(await suiteOf(file, options, terminal))
  const results = suites.flatMap((suite) => suite.results)
  const failed = results.filter(({ failures }) => failures.length > 0).length
  const isWrong = suites.some(({ wrong }) => wrong !== undefined)
  if (options.json === true) terminal.say(JSON.stringify(asJson(suites, results.length - failed, failed), null, 2))
  else if (results.length > 0) terminal.say(`${results.length - failed} passed, ${failed} failed`)
  if (options.junit !== undefined)
    await writeProduct(options.junit, terminal, async (put) => void (await put(junitXml(suites))))
  if (isWrong) return EXIT.wrong
  if (results.length === 0) {
    terminal.complain(`no scene has ${JSON.stringify(options.only)} in its name`)
    return EXIT.wrong
  }
  return failed === 0 ? EXIT.ok : EXIT.failed
}

async function suiteOf(file: string, options: TestOptions, terminal: Terminal): Promise<SceneSuite> {
  const { runScenes } = await import('@muster/lab')
  const read = await readScenes(file, terminal.folder, options.queues).catch((error: unknown) => error)
  if (read instanceof WrongFile) {
    refusal(read.error, read.file, terminal)
    return { file, results: [], lineOf: () => undefined, wrong: read.message }
  }
  if (read instanceof Error) throw read
  const found = read as ScenesFile
  if (found.warnings.length > 0) terminal.complain(findingsText(file, found.warnings, paint(terminal.colours.complain)))
  const { only, json } = options
  const scenes = found.scenes.filter(({ name }) => only === undefined || name.includes(only))
  if (json !== true && scenes.length > 0)
    terminal.say(paint(terminal.colours.say).strong(`${file}, by the queues of ${found.queuesFile}`))
  const results = await runScenes(scenes, (result) => {
    if (json !== true) terminal.say(resultText(result, found, terminal))
  })
  return { file, results, lineOf: (path) => found.placeOf(path).line }
}

/** A scene in the terminal. Marks are for people: they are where colours are. */
function resultText({ name, failures }: SceneResult, { file, placeOf }: ScenesFile, terminal: Terminal): string {
  const { red, green } = paint(terminal.colours.say)
  const isMarked = terminal.colours.say
  const clean = printable(name)
  if (failures.length === 0) return `  ${isMarked ? green('✓') : 'passed:'} ${clean}`
  const lines = failures.map(({ path, expected, instead }) => {
    const { line, column } = placeOf(path)
    return `      ${file}:${line}:${column}: ${printable(expected)}\n        ${printable(instead)}`
  })
  return [`  ${red(isMarked ? '✗' : 'failed:')} ${clean}`, ...lines].join('\n')
}

/** Names come from a file: no control character of theirs moves the cursor. */
const printable = (text: string) => text.replace(/\p{Cc}/gu, '\u{fffd}')

function asJson(suites: readonly SceneSuite[], passed: number, failed: number) {
  const files = suites.map(({ file, results, lineOf, wrong }) => ({
    file,
    ...(wrong !== undefined && { wrong: wrong.split('\n') }),
    scenes: results.map(({ name, path, failures }) => ({
      name,
      line: lineOf(path),
      passed: failures.length === 0,
      failures: failures.map((one) => ({ line: lineOf(one.path), expected: one.expected, instead: one.instead })),
    })),
  }))
  return { passed, failed, files }
}
