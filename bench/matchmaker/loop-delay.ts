import { atMost, type Figures } from '../figure.js'
import { measuredBy } from '../forked.js'
import type { Delays, SceneName } from './loop-delay-process.js'

const PROGRAM = new URL('./loop-delay-process.js', import.meta.url)
const RUNS = 3
const GOAL_MS = 15

const scenes: readonly { readonly scene: SceneName; readonly count: number; readonly what: string }[] = [
  { scene: 'arriving', count: 200_000, what: '200,000 tickets arrive at once' },
  { scene: 'standing', count: 1_000_000, what: '1,000,000 tickets stand and 2,000/s come' },
]

/** Measures the longest turn of the event loop with a matchmaker that ticks by itself, on the real clock. */
export async function loopDelayFigures(): Promise<Figures> {
  const figures: Figures['figures'][number][] = []
  const peers: Record<string, unknown> = {}
  for (const { scene, count, what } of scenes) {
    const runs: Delays[] = []
    const options = { execArgv: ['--max-old-space-size=8000'], patienceMs: 150_000 }
    for (let run = 0; run < RUNS; run += 1)
      runs.push(await measuredBy<Delays>(PROGRAM, [scene, String(count)], options))
    const name = `event loop while ${what}: it is held at most`
    figures.push(
      atMost(
        name,
        runs.map(({ longestMs }) => longestMs),
        GOAL_MS,
        'ms',
      ),
      atMost(
        `${name}, without garbage collection`,
        runs.map(({ longestOwnMs }) => longestOwnMs),
        GOAL_MS,
        'ms',
      ),
    )
    peers[name] = runs.map(({ found }) => found)
  }
  return { figures, peers }
}
