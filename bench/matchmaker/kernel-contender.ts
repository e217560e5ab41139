import { median } from '../figure.js'
import { groupingOf, samplesOf, type Grouping, type Task } from './kernel-workload.js'
import type { Sample } from './workload.js'

/** One way to make matches of many tickets. */
export interface Contender {
  /** Makes matches of all tickets. Returns what `cpuOf` gives for that alone. */
  readonly round: () => number
  /** Those of one more round. */
  readonly matches: () => readonly (readonly Sample[])[]
  /** What else is known of it by then. */
  readonly notes?: () => Readonly<Record<string, number>>
}

export type Found = Grouping & { readonly notes?: Readonly<Record<string, number>> | undefined }

/** Rounds of a run. Those of its first half warm up. */
export const roundsOf = (tickets: number): number => Math.max(6, Math.min(60, Math.round(2_400_000 / tickets)))

/** Milliseconds of CPU of the process, garbage collection included. */
export function cpuOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * The whole program of a contender, for the task and the number of tickets in its arguments. A parent asks it for a
 * `round`, so that others can take turns with it, and at last for what it has `found`; by hand it runs as many as the
 * benchmark does.
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
