import { fork } from 'node:child_process'
import { median } from '../figure.js'
import { follow, type Followed } from '../followed.js'
import { roundsOf, type Found } from './kernel-contender.js'
import type { Task } from './kernel-workload.js'

const programs = {
  ours: new URL('./kernel-process.js', import.meta.url),
  colyseus: new URL('./kernel-colyseus.js', import.meta.url),
} as const

export type ContenderName = keyof typeof programs

/**
 * How often a contender takes part: in every round, or in every nth. Colyseus takes part less often, because its rounds
 * are long.
 */
const EVERY: Readonly<Record<ContenderName, number>> = { ours: 1, colyseus: 4 }

/** The results of a contender. */
export interface Turns extends Found {
  /** CPU milliseconds of a round: the median of each run. */
  readonly ms: readonly number[]
}

/**
 * Makes several runs. In each, the contenders take turns round by round, each in a new process. Their matches are the
 * same in all runs, so those of the first run are reported.
 */
export async function takeTurns<Name extends ContenderName>(
  names: readonly Name[],
  task: Task,
  tickets: number,
  { runs, rounds = roundsOf(tickets) }: { readonly runs: number; readonly rounds?: number },
): Promise<Readonly<Record<Name, Turns>>> {
  const turns = names.map((name) => ({ name, ms: [] as number[], found: undefined as Found | undefined }))
  for (let run = 0; run < runs; run += 1) {
    const started = turns.map((of) => ({ of, process: start(of.name, task, tickets), spent: [] as number[] }))
    for (let round = 0; round < rounds; round += 1)
      for (const { of, process, spent } of started) {
        if (round % EVERY[of.name] !== 0) continue
        const ms = (await process.ask('round')) as number
        if (round >= rounds / 2) spent.push(ms)
      }
    for (const { of, process, spent } of started) {
      of.ms.push(median(spent))
      of.found ??= (await process.ask('found')) as Found
      process.close()
    }
  }
  const entries: (readonly [string, Turns])[] = turns.map(({ name, ms, found }) => [name, { ms, ...(found as Found) }])
  return Object.fromEntries(entries) as Record<Name, Turns>
}

const start = (name: ContenderName, task: Task, tickets: number): Followed =>
  follow(fork(programs[name], [task, String(tickets)], { execArgv: ['--max-old-space-size=4096'] }))
