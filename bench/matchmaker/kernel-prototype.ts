/** The kernel's work done by the laboratory's: `node bench/dist/matchmaker/kernel-prototype.js tens 100000`. */
import { contend, cpuOf, type Contender } from './kernel-contender.js'
import type { Task } from './kernel-workload.js'
import type { Matches } from './prototype-bulk.js'
import { columnsOf } from './prototype-columns.js'
import { PrototypeKernel } from './prototype-kernel.js'
import type { Sample } from './workload.js'

/** Its columns are made once: as with our pool, what they cost is not the round's. */
function createPrototype(task: Task, tickets: readonly Sample[]): Contender {
  const size = task === 'pairs' ? 2 : 10
  const kernel = new PrototypeKernel(columnsOf(tickets), size)
  let matches: Matches = { tickets: new Int32Array(0), count: 0 }
  const round = () => cpuOf(() => void (matches = kernel.round()))
  return {
    round,
    matches: () => {
      round()
      const match = (nth: number) => Array.from(matches.tickets.subarray(nth * size, (nth + 1) * size))
      return Array.from({ length: matches.count }, (_, nth) => match(nth).map((ticket) => tickets[ticket] as Sample))
    },
  }
}

contend(createPrototype)
