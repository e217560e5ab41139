/** `pnpm bench <suite> [--json] [--check]`: measures what is promised, beside others that do the same. */
import { parseArgs } from 'node:util'
import type { Figure, Figures } from './figure.js'

/** Loaded when they are run: some load what they measure. One part after the other, so that none disturbs another. */
const suites: Readonly<Record<string, readonly (() => Promise<Figures>)[]>> = {
  core: [
    async () => (await import('./core/client.js')).clientFigures(),
    async () => (await import('./core/footprint.js')).footprintFigures(),
    async () => (await import('./core/scheduler.js')).schedulerFigures(),
    async () => (await import('./core/slow-reads.js')).slowReadFigures(),
    async () => (await import('./core/undocumented-limit.js')).undocumentedLimitFigures(),
    async () => (await import('./core/cold-burst.js')).coldBurstFigures(),
  ],
  matchmaker: [
    async () => (await import('./matchmaker/kernel.js')).kernelFigures(),
    async () => (await import('./matchmaker/pair-cost.js')).pairCostFigures(),
    async () => (await import('./matchmaker/whole.js')).wholeFigures(),
    async () => (await import('./matchmaker/ticks.js')).tickFigures(),
    async () => (await import('./matchmaker/slope.js')).slopeFigures(),
    async () => (await import('./matchmaker/following.js')).followingFigures(),
    async () => (await import('./matchmaker/waits.js')).waitFigures(),
    async () => (await import('./matchmaker/target-wait.js')).targetWaitFigures(),
    async () => (await import('./matchmaker/ticket-log.js')).ticketLogFigures(),
    async () => (await import('./matchmaker/ticket-api.js')).ticketApiFigures(),
  ],
  lab: [
    async () => (await import('./matchmaker/match-cost.js')).matchCostFigures(),
    async () => (await import('./lab/arriving-cost.js')).arrivingCostFigures(),
    async () => (await import('./lab/speed.js')).speedFigures(),
  ],
  relay: [
    async () => (await import('./relay/lobbies.js')).lobbyFigures(),
    async () => (await import('./relay/listing.js')).listingFigures(),
    async () => (await import('./relay/lost-answers.js')).lostAnswerFigures(),
    async () => (await import('./relay/data-plane.js')).dataPlaneFigures(),
  ],
  server: [
    async () => (await import('./server/creates.js')).createFigures(),
    async () => (await import('./server/streams.js')).streamFigures(),
    async () => (await import('./server/start.js')).startFigures(),
    async () => (await import('./server/console-cost.js')).consoleCostFigures(),
  ],
  redis: [
    async () => (await import('./redis/limits.js')).limitFigures(),
    async () => (await import('./redis/partition.js')).partitionFigures(),
    async () => (await import('./redis/store-cost.js')).storeFigures(),
  ],
}

const usage = `usage: pnpm bench ${Object.keys(suites).join('|')} [--json] [--check]
  --json    one JSON object on stdout
  --check   exit with 1 if a figure falls short, and name it`

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false }, check: { type: 'boolean', default: false } },
  })
  const suite = positionals.length === 1 ? suites[positionals[0] as string] : undefined
  if (suite === undefined) {
    console.error(usage)
    return 2
  }

  const parts: Figures[] = []
  for (const part of suite) parts.push(await part())
  const figures = parts.flatMap((part) => part.figures)
  const peers = Object.assign({}, ...parts.map((part) => part.peers)) as Figures['peers']

  console.log(values.json ? JSON.stringify({ figures, peers }) : table(figures, peers))
  const short = figures.filter(({ ok }) => !ok)
  if (!values.check || short.length === 0) return 0
  for (const { name, value, goal, unit } of short)
    console.error(`falls short: ${name}: ${value} ${unit}, goal ${goal} ${unit}`)
  return 1
}

function table(figures: readonly Figure[], peers: Figures['peers']): string {
  const rows = figures.map(
    ({ name, value, goal, unit, ok }) => `${ok ? 'ok   ' : 'SHORT'} ${name}: ${value} ${unit} (goal ${goal})`,
  )
  return [...rows, '', 'peers:', JSON.stringify(peers, undefined, 2)].join('\n')
}

process.exitCode = await main(process.argv.slice(2))
