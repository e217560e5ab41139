import { dirname, join, resolve } from 'node:path'
import type { Scene, SceneResult } from '@muster/lab'
import type { SceneSuite } from '@muster/lab/internal'
import type { Command } from 'commander'
import { createFindings, type Finding, InvalidConfig, needTextFile, readYaml, type Source } from '../../config/index.js'
import { writeText } from '../output-file.js'
import { EXIT, type ExitCode, findingsText, paint, refusal, type Terminal } from '../terminal.js'
import type { AddLabCommand } from './lab-command.js'
import { type QueueFile, readQueues, readQueuesText } from './lab-input.js'

/** Maximum number of warnings that are printed. */
const MOST_WARNINGS = 50

/** The scenes of a file, i.e. tests of queues with tickets and expectations, validated and ready to run. */
interface ScenesFile {
  readonly file: string
  /** The file with the queues of the scenes. */
  readonly queuesFile: string
  readonly scenes: readonly Scene[]
  readonly warnings: readonly Finding[]
  placeOf(path: readonly string[]): { readonly line: number; readonly column: number }
}

/**
 * Reads a file of scenes, and the queues that the scenes name.
 * @param queues path of a file with queues, used instead of the one that the scenes name.
 * @throws {InvalidConfig} with all faults of either file
 */
async function readScenes(file: string, folder: string, queues: string | undefined): Promise<ScenesFile> {
  const text = await needTextFile(resolve(folder, file), file)
  const source = readYaml(text)
  const findings = createFindings(source)
  const refuse = (path: readonly string[], message: string) => {
    findings.of(path, message)
    return new InvalidConfig(file, findings.sorted())
  }
  if (source.faults.length > 0) throw new InvalidConfig(file, findings.sorted())
  const { value } = source
  if (value === null || value === undefined) throw refuse([], 'is empty: it must have scenes')
  if (typeof value !== 'object' || Array.isArray(value)) throw refuse([], 'must be queues: and scenes:')
  const named = (value as { readonly queues?: unknown }).queues
  if (queues === undefined && typeof named !== 'string' && !Array.isArray(named))
    throw refuse('queues' in value ? ['queues'] : [], 'names no queues: write queues: ./muster.yaml, or give --queues')
  const found = await queuesOf(queues, named, { file, folder, text })
  const { checkScenes } = await import('@muster/lab')
  const { scenes, faults } = checkScenes(value, found.queues)
  const errors = faults.filter(({ severity }) => severity === 'error')
  findings.faults(errors, value)
  const warnings = faults.filter(({ severity }) => severity === 'warning')
  for (const { path, message } of warnings.slice(0, MOST_WARNINGS)) findings.of(path, message, 'warning')
  const all = findings.sorted()
  if (errors.length > 0) throw new InvalidConfig(file, all)
  return { file, queuesFile: found.file, scenes, warnings: all, placeOf: (path) => positionIn(source, path) }
}

const positionIn = (source: Source, path: readonly string[]) => source.positionOf(source.placeOf(path, 'name'))

async function queuesOf(
  given: string | undefined,
  named: unknown,
  { file, folder, text }: { readonly file: string; readonly folder: string; readonly text: string },
): Promise<QueueFile> {
  const isInline = given === undefined && typeof named !== 'string'
  const path = given ?? (typeof named === 'string' ? join(dirname(file), named) : file)
  return isInline ? readQueuesText(text, file) : readQueues(path, folder)
}

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
  const { scenesJsonSchema } = await import('@muster/lab/internal')
  terminal.say(JSON.stringify(scenesJsonSchema(), null, 2))
  return EXIT.ok
}

/** Runs scenes and prints their results. */
async function test(files: readonly string[], options: TestOptions, terminal: Terminal): Promise<ExitCode> {
  const { junitXml } = await import('@muster/lab')
  const suites: SceneSuite[] = []
  for (const file of files) suites.push(await suiteOf(file, options, terminal))
  const results = suites.flatMap((suite) => suite.results)
  const failed = results.filter(({ failures }) => failures.length > 0).length
  const isWrong = suites.some(({ wrong }) => wrong !== undefined)
  if (options.json === true) terminal.say(JSON.stringify(asJson(suites, results.length - failed, failed), null, 2))
  else if (results.length > 0) terminal.say(`${results.length - failed} passed, ${failed} failed`)
  if (options.junit !== undefined) await writeText(options.junit, terminal, junitXml(suites))
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
  if (read instanceof InvalidConfig) {
    refusal(read, terminal)
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

/**
 * Returns the result of a scene for the terminal. Marks such as ✓ are printed only if the output has colours, so only
 * for human readers.
 */
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

/** Replaces control characters, because a name from a file could otherwise move the cursor. */
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
