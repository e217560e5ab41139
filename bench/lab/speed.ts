import { runCrowd } from '@muster/lab'
import { rules } from '../matchmaker/kernel-workload.js'
import { atLeast, type Figures } from '../figure.js'
import { arriving, SECONDS } from './arriving-cost.js'

const GOAL = 200
/**
 * Number of runs before the measurement. After them, the engine has compiled what it would compile in the first minutes
 * of a long run.
 */
const WARM_UP = 6
const RUNS = 9

/**
 * Measures how much faster than real time a run is, if 5,000 players come per minute and play in pairs. The work is
 * that from each ticket's creation to the stop of its server. The CPU time of the whole process counts, garbage
 * collection included.
 */
export async function speedFigures(): Promise<Figures> {
  const crowd = arriving()
  const queue = { name: 'queue', matchSize: 2, rules, deploy: { application: 'game', version: '1' } }
  const speeds: number[] = []
  for (let run = 0; run < WARM_UP + RUNS; run += 1) {
    const before = process.cpuUsage()
    await runCrowd(crowd, [queue])
    const { user, system } = process.cpuUsage(before)
    if (run >= WARM_UP) speeds.push(SECONDS / ((user + system) / 1e6))
  }
  const name = 'lab: a run of 5,000 players a minute, as a multiple of real time'
  return { figures: [atLeast(name, speeds, GOAL, '× per core')], peers: {} }
}
