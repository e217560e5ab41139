import { atMost, type Figures } from '../figure.js'
import { measuredBy } from '../forked.js'
import { runsOf } from '../runs.js'
import type { SceneName, Ticks } from './ticks-process.js'

const TICK_MS = 250
const RUNS = 3
const PROGRAM = new URL('./ticks-process.js', import.meta.url)

const scenes: Readonly<Record<SceneName, string>> = {
  rare: '4 players/s into 5v5 with rare roles',
  few: '25 tickets that no 5v5 suits',
  some: '200 tickets that no 5v5 suits',
  standing: '10,000 waiting with roles, balance and a custom rule',
  apart: '10,000 waiting whom a rule about pairs keeps apart',
  slow: '200 tickets and a custom rule of 0.2 ms that suits nobody',
}

/**
 * Measures ticks in scenes with matches that are hard to find: how long ticks block the event loop, and which share of
 * the interval they take. Each scene runs in processes of its own, and is measured from its first tick, which is cold.
 */
export async function tickFigures(): Promise<Figures> {
  const figures: Figures['figures'][number][] = []
  const peers: Record<string, unknown> = {}
  for (const [scene, what] of Object.entries(scenes)) {
    const runs = await runsOf(RUNS, () => measuredBy<Ticks>(PROGRAM, [scene]))
    const heldMs = runs.map((run) => run.heldMs)
    const p95 = runs.map((run) => (100 * run.p95Ms) / TICK_MS)
    const name = `ticks: ${what}`
    figures.push(
      atMost(`${name}: the event loop is held at most`, heldMs, 20, 'ms'),
      atMost(`${name}: p95 of a tick`, p95, 20, '% of its interval'),
    )
    peers[name] = runs.map(({ found }) => found)
  }
  return { figures, peers }
}
