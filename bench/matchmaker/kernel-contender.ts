import { median } from '../figure.js'
import { groupingOf, samplesOf, type Grouping, type Task } from './kernel-workload.js'
import type { Sample } from './workload.js'

/** A program that makes matches of many tickets. */
export interface Contender {
  /** Makes matches of all tickets. Returns the CPU time of that work, as `cpuOf` measures it. */
  readonly round: () => number
  /** Makes one more round, and returns its matches. */
  readonly matches: () => readonly (readonly Sample[])[]
  /** Returns further results that are known by then. */
  readonly notes?: () => Readonly<Record<string, number>>
}

export type Found = Grouping & { readonly notes?: Readonly<Record<string, number>> | undefined }

/** Returns the number of rounds of a run. The rounds of the first half warm up. */
export const roundsOf = (tickets: number): number => Math.max(6, Math.min(60, Math.round(2_400_000 / tickets)))

/** Returns the milliseconds of CPU time that the process uses for some work, garbage collection included. */
export function cpuOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * The main program of a contender, for the task and the number of tickets in its arguments. A parent process requests
 * each `round`, so that contenders can take turns, and finally the results (`found`). Started by hand, it runs as many
 * rounds as the benchmark.
 */
export function contend(create: (task: Task, tickets: readonly Sample[]) => Contender): void {
  const [task, count] = [process.argv[2] as Task, Number(process.argv[3])]
  const tickets = samplesOf(task, count)
  const contender = create(task, tickets)
  const found = (): Found => ({ ...groupingOf(contender.matches(), tickets), notes: contender.notes?.() })
  if (process.send === undefined) {
    const spent = Array.from({ length: roundsOf(count) }, contender.round)
    const later = spent.slice(spent.length / 2)
    console.log({ ms: { median: median(later), least: Math.min(...later) }, ...found() })
    return
  }
  process.on('message', (asked) => process.send?.(asked === 'round' ? contender.round() : found()))
}
