import { runCrowd } from '@muster/lab'
import { rules } from '../matchmaker/kernel-workload.js'
import { atLeast, type Figures } from '../figure.js'
import { arriving, SECONDS } from './arriving-cost.js'

const GOAL = 200
/** Runs until the engine has compiled what a longer run would have compiled after its first minutes. */
const WARM_UP = 6
const RUNS = 9

/**
 * How much faster than real time a run is where 5,000 players a minute come, in pairs: from each ticket's creation to a
 * server that has stopped, by CPU time of the whole process, garbage included.
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
