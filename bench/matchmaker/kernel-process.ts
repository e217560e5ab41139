/**
 * One measurement of the kernel, in a process of its own. By hand, to profile it:
 * `node --cpu-prof bench/dist/matchmaker/kernel-process.js pairs 100000`.
 */
import { compileQueue, createPool, defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { median } from '../figure.js'
import { brokenPairs, NOW, percentOf, rules, ruleTicket, samples, type Grouping, type Task } from './kernel-workload.js'
import type { Sample } from './workload.js'

const deploy = { application: 'game', version: '1' }
const queues: Readonly<Record<Task, QueueDefinition>> = {
  pairs: { name: 'pairs', matchSize: 2, rules, deploy },
  tens: { name: 'tens', matchSize: 10, rules, deploy },
  parties: { name: 'parties', teams: [{ name: 'team', count: 2, size: 5 }], rules, deploy },
}

function measure(task: Task, count: number): Grouping {
  const tickets = samples(count).map((sample) => (task === 'parties' ? sample : { ...sample, size: 1 }))
  const compiled = compileQueue(defineQueue(queues[task]))
  const pool = createPool(compiled.model)
  const spent: number[] = []
  const added: number[] = []
  let grouping: Grouping = { ms: 0, percent: 0, broken: 0 }

  // Those before the middle only warm up.
  const rounds = count > 500_000 ? 6 : count > 50_000 ? 24 : 120
  for (let round = 0; round < rounds; round++) {
    const at = new Map<number, Sample>()
    const begun = performance.now()
    const slots = tickets.map((ticket, index) => pool.add(compiled.entryOf(ruleTicket(ticket, index))))
    added.push(performance.now() - begun)
    const before = process.cpuUsage()
    const groups = pool.group(NOW)
    const { user, system } = process.cpuUsage(before)
    spent.push((user + system) / 1000)
    if (round === rounds - 1) {
      for (const [index, slot] of slots.entries()) at.set(slot, tickets[index] as Sample)
      const matches = Array.from(groups, (group) => group.slots.map((slot) => at.get(slot) as Sample))
      grouping = {
        ms: 0,
        percent: percentOf(matches, tickets),
        broken: matches.reduce((sum, match) => sum + brokenPairs(match), 0),
        bytesPerTicket: Math.round(pool.bytes() / count),
      }
    }
    for (const slot of slots.toReversed()) pool.remove(slot)
  }
  return { ...grouping, ms: median(spent.slice(rounds / 2)), addsPerS: Math.round((1000 * count) / median(added)) }
}

const found = measure(process.argv[2] as Task, Number(process.argv[3]))
if (process.send === undefined) console.log(found)
else process.send(found)
