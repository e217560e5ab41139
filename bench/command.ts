import { parseArgs } from 'node:util'
import type { Figure, Figures } from './figure.js'

/**
 * A part measures one thing. It is loaded only when it runs, because some parts load the programs that they measure.
 */
export type Part = () => Promise<Figures>

/** The parts of each suite by name, in the order in which they run. */
export type Suites = Readonly<Record<string, Readonly<Record<string, Part>>>>

/** Receives the lines of output: the console, or a test. */
export interface Output {
  readonly log: (line: string) => void
  readonly error: (line: string) => void
}

/**
 * Runs the requested parts one after another, so that none disturbs another, and prints their figures. Resolves with
 * the exit code. 1: a part failed, or with `--check` a figure misses its goal. 2: the arguments are invalid.
 */
export async function runBench(suites: Suites, args: readonly string[], output: Output): Promise<number> {
  const asked = understood(suites, args)
  if (typeof asked === 'string') {
    output.error(`${asked}\n${usageOf(suites)}`)
    return 2
  }
  const found: Figures[] = []
  let failed = 0
  for (const [name, part] of asked.parts) {
    const begun = performance.now()
    try {
      const figures = await part()
      found.push(figures)
      if (!asked.json) output.log(`${name}, ${Math.round((performance.now() - begun) / 1000)} s\n${table(figures)}\n`)
    } catch (error) {
      failed += 1
      output.error(`failed: ${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const figures = found.flatMap((part) => part.figures)
  if (asked.json) output.log(JSON.stringify({ figures, peers: Object.assign({}, ...found.map(({ peers }) => peers)) }))
  const short = asked.check ? figures.filter(({ ok }) => !ok) : []
  for (const figure of short) output.error(`falls short: ${valuesOf(figure)}`)
  return failed + short.length > 0 ? 1 : 0
}

/** Returns the parsed arguments, or what is wrong with them. */
function understood(suites: Suites, args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false }, check: { type: 'boolean', default: false } },
    })
    const [suite, ...names] = positionals
    if (suite === undefined) return 'which suite?'
    const parts = Object.hasOwn(suites, suite) ? Object.entries(suites[suite] ?? {}) : undefined
    if (parts === undefined) return `no suite ${suite}`
    const unknown = names.find((name) => !parts.some(([part]) => isNamed(part, name)))
    if (unknown !== undefined) return `no part ${unknown} in ${suite}`
    const wanted = parts.filter(([part]) => names.length === 0 || names.some((name) => isNamed(part, name)))
    return { ...values, parts: wanted }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Returns true if a name is the part's whole name, or its first words: `kernel` names `kernel-pairs-10k` too. */
const isNamed = (part: string, name: string) => part === name || part.startsWith(`${name}-`)

const usageOf = (suites: Suites) => `usage: pnpm bench <suite> [part ...] [--json] [--check]
  part      only these parts, each by its name or by the words that it begins with
  --json    one JSON object on stdout
  --check   exit with 1 if the median of a figure falls short of its goal, and name it
suites and their parts:
${Object.entries(suites)
  .map(([suite, parts]) => `  ${suite}: ${Object.keys(parts).join(', ')}`)
  .join('\n')}`

const table = ({ figures, peers }: Figures): string =>
  [
    ...figures.map((figure) => `${figure.ok ? 'ok   ' : 'SHORT'} ${valuesOf(figure)}`),
    ...(Object.keys(peers).length === 0 ? [] : [`peers: ${JSON.stringify(peers, undefined, 2)}`]),
  ].join('\n')

function valuesOf({ name, median, least, most, runs, goal, unit, beside }: Figure): string {
  const range = runs === 1 ? '' : `, least ${least}, most ${most} of ${runs} runs`
  return `${name}: ${median} ${unit} (goal ${goal}${range})${beside === undefined ? '' : `; ${beside}`}`
}
