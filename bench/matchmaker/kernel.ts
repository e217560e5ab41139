import { atLeast, atMost, median, type Figure, type Figures } from '../figure.js'
import { takeTurns, type ContenderName, type Turns } from './kernel-turns.js'
import type { Task } from './kernel-workload.js'

const RUNS = 3

/**
 * Maximum CPU milliseconds of a round. For 100,000 tickets in pairs and tens: 1.5 times the time of the previous kernel
 * (decision 0116). Otherwise: 1.5 times the time when decision 0151 was written.
 */
const MOST_MS: Readonly<Record<Task, Readonly<Record<number, number>>>> = {
  pairs: { 10_000: 13, 100_000: 20, 1_000_000: 1400 },
  tens: { 10_000: 55, 100_000: 65, 1_000_000: 3200 },
  parties: { 100_000: 420 },
}
/** Minimum percentage of the players who must be in a match. */
const LEAST_PERCENT: Readonly<Partial<Record<Task, Readonly<Record<number, number>>>>> = { pairs: { 10_000: 95 } }
/** Minimum ratio of the time of Colyseus' queue to that of the kernel. */
const TIMES_COLYSEUS: Readonly<Record<Task, Readonly<Record<number, number>>>> = {
  pairs: { 10_000: 0.35, 100_000: 4, 1_000_000: 1.3 },
  tens: {},
  parties: {},
}

const names: Readonly<Record<Task, string>> = {
  pairs: 'into pairs',
  tens: 'into matches of 10',
  parties: 'in parties into 5v5',
}

/**
 * Measures one round over all tickets, with the public kernel and rules compiled from a queue: CPU time of the process,
 * garbage collection included. Adding tickets is reported separately. Colyseus' QueueRoom (npm) makes matches of the
 * same tickets, with the same rules as its `compare` and no work for a match. Both take turns, in several runs.
 */
export async function kernelFigures(task: Task, tickets: number): Promise<Figures> {
  const contenders: readonly ContenderName[] = task === 'parties' ? ['ours'] : ['ours', 'colyseus']
  const { ours, colyseus } = await takeTurns(contenders, task, tickets, { runs: RUNS })
  const name = `kernel: ${tickets.toLocaleString('en')} tickets ${names[task]}`
  const times = TIMES_COLYSEUS[task][tickets]
  return {
    figures: [
      ...ownFigures(name, ours, MOST_MS[task][tickets] ?? 0, LEAST_PERCENT[task]?.[tickets]),
      ...(times === undefined ? [] : againstColyseus(name, times, ours, colyseus)),
    ],
    peers: {
      [`${name}: ours`]: summaryOf(ours, ours),
      ...(task === 'parties'
        ? {}
        : {
            [`${name}: Colyseus QueueRoom`]: summaryOf(colyseus, ours),
          }),
    },
  }
}

function ownFigures(name: string, ours: Turns, ms: number, percent: number | undefined): Figure[] {
  return [
    atMost(name, ours.ms, ms, 'ms of CPU', qualityOf(ours)),
    atMost(`${name}: broken rules`, ours.broken, 0, 'pairs of tickets'),
    ...(percent === undefined ? [] : [atLeast(`${name}: players in a match`, ours.percent, percent, '%')]),
  ]
}

const againstColyseus = (name: string, times: number, ours: Turns, theirs: Turns): Figure[] => [
  atLeast(
    `${name}: Colyseus takes so many times as long`,
    ratios(theirs, ours),
    times,
    '×',
    `its ${qualityOf(theirs)}`,
  ),
  atLeast(`${name}: players in a match, against Colyseus`, ours.percent / theirs.percent, 1, '×'),
]

/** Returns the ratio of two contenders' times in each run, in which both took turns. */
const ratios = (one: Turns, other: Turns) => one.ms.map((ms, run) => ms / (other.ms[run] as number))

const qualityOf = ({ percent, km, skill }: Turns) =>
  `matches: ${rounded(percent)} % of the players, ${rounded(km)} km and ${rounded(skill)} of skill apart`

function summaryOf(turns: Turns, ours: Turns) {
  const { ms, percent, km, skill, broken, notes } = turns
  return {
    'ms of CPU': { median: rounded(median(ms)), least: rounded(Math.min(...ms)) },
    'times ours': rounded(median(ratios(turns, ours))),
    '% of the players in a match': rounded(percent),
    'km apart': rounded(km),
    'skill apart': rounded(skill),
    'broken rules': broken,
    ...notes,
  }
}

const rounded = (value: number) => Number(value.toPrecision(3))
