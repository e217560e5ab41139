/**
 * Our kernel, in a process of its own. By hand, to profile it:
 * `node --cpu-prof bench/dist/matchmaker/kernel-process.js pairs 100000`.
 */
import { compileQueue, createPool, defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { median } from '../figure.js'
import { contend, cpuOf, type Contender } from './kernel-contender.js'
import { NOW, rules, ruleTicket, type Task } from './kernel-workload.js'
import type { Sample } from './workload.js'

const deploy = { application: 'game', version: '1' }
const queues: Readonly<Record<Task, QueueDefinition>> = {
  pairs: { name: 'pairs', matchSize: 2, rules, deploy },
  tens: { name: 'tens', matchSize: 10, rules, deploy },
  parties: { name: 'parties', teams: [{ name: 'team', count: 2, size: 5 }], rules, deploy },
}

/** One pool for all rounds, which is filled before each and emptied after it: that is not the round's work. */
function createOurs(task: Task, tickets: readonly Sample[]): Contender {
  const compiled = compileQueue(defineQueue(queues[task]))
  const pool = createPool(compiled.model)
  const begun = performance.now()
  const entries = tickets.map((ticket, index) => compiled.entryOf(ruleTicket(ticket, index)))
  const compiledMs = performance.now() - begun
  const addedMs: number[] = []
  const add = () => {
    const from = performance.now()
    const slots = entries.map((entry) => pool.add(entry))
    addedMs.push(performance.now() - from)
    return slots
  }
  const empty = (slots: readonly number[]) => {
    for (const slot of slots.toReversed()) pool.remove(slot)
  }
  return {
    round: () => {
      const slots = add()
      const spent = cpuOf(() => void pool.group(NOW))
      empty(slots)
      return spent
    },
    matches: () => {
      const slots = add()
      const bySlot = new Map(slots.map((slot, index) => [slot, tickets[index] as Sample]))
      const matches = Array.from(pool.group(NOW), (group) => group.slots.map((slot) => bySlot.get(slot) as Sample))
      empty(slots)
      return matches
    },
    notes: () => ({
      addsPerS: Math.round((1000 * tickets.length) / (compiledMs + median(addedMs))),
      bytesPerTicket: Math.round(pool.bytes() / tickets.length),
    }),
  }
}

contend(createOurs)
