import { fork } from 'node:child_process'
import { atMost, median, type Figures } from '../figure.js'
import { follow } from '../followed.js'
import type { ConsoleCost, ConsoleLoad, Listening } from './console-process.js'

const ROUNDS = 7
/**
 * Number of rounds before the measurement. They warm up the compiler, and fill a part of the recording, which then
 * pauses for the rest of ten minutes.
 */
const FIRST_ROUNDS = 4
const LOAD: ConsoleLoad = { perSecond: 5000, seconds: 4 }

/**
 * Measures the cost of an open console while 5,000 tickets per second are matched and served. It is the difference to a
 * process without a console, in percentage points of a core. The two take turns, so that both find the machine in the
 * same state.
 */
export async function consoleCostFigures(): Promise<Figures> {
  const [plain, watched] = [await open('plain'), await open('console')]
  const updates = await followFeed(watched.port)
  const [costs, without, differences]: [ConsoleCost[], number[], number[]] = [[], [], []]
  const recording: number[] = []
  for (let round = 0; round < FIRST_ROUNDS + ROUNDS; round += 1) {
    const [alone, beside] = [await plain.run(), await watched.run()]
    if (round < FIRST_ROUNDS) {
      recording.push(beside.percentOfACore - alone.percentOfACore)
      continue
    }
    costs.push(alone, beside)
    without.push(alone.percentOfACore)
    differences.push(beside.percentOfACore - alone.percentOfACore)
  }
  for (const { close } of [plain, watched]) close()
  const share = ({ assigned, created }: ConsoleCost) => assigned / created
  return {
    figures: [atMost('program: cost of a console at 5,000 tickets/s', differences, 3, '% of a core')],
    peers: {
      'program: 5,000 tickets/s without a console, % of a core': rounded(median(without)),
      'program: the same in the first rounds, while it records and is compiled': recording.map(rounded),
      'program: least share of those tickets that got a server': rounded(Math.min(...costs.map(share))),
      'program: events of the console meanwhile': updates.count(),
    },
  }
}

const rounded = (value: number) => Number(value.toPrecision(3))

async function open(kind: 'plain' | 'console') {
  const child = follow(fork(new URL('./console-process.js', import.meta.url), [kind]))
  const { port } = (await child.answer()) as Listening
  return { port, run: () => child.ask(LOAD) as Promise<ConsoleCost>, close: child.close }
}

/** Follows the feed as the page does, until the process ends. */
async function followFeed(port: number): Promise<{ readonly count: () => number }> {
  const headers = { authorization: 'Bearer anything' }
  const { body, status } = await fetch(`http://127.0.0.1:${port}/console/api/feed`, { headers })
  if (status !== 200 || body === null) throw new Error(`the feed answers ${status}`)
  let events = 0
  const read = async () => {
    for await (const text of body.pipeThrough(new TextDecoderStream()))
      events += text.match(/^event: now$/gm)?.length ?? 0
  }
  // The read fails when the process ends.
  void read().catch(() => {})
  return { count: () => events }
}
