/**
 * Muster's kernel, in a process of its own. Start it by hand to profile it: `node --cpu-prof
 * bench/dist/matchmaker/kernel-process.js pairs 100000`.
 */
import { defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { compileQueue, createPool } from '@muster/matchmaker/internal'
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

/**
 * Number of passes, of which the median counts, and maximum number of tickets of a pass. They measure how fast tickets
 * are added.
 */
const ADDING = { passes: 5, tickets: 100_000 }

/**
 * Creates Muster's kernel as a contender. One pool is used for all rounds. Filling it before and emptying it after a
 * round is not part of the measured work.
 */
function createOurs(task: Task, tickets: readonly Sample[]): Contender {
  const compiled = compileQueue(defineQueue(queues[task]))
  const pool = createPool(compiled.model)
  const entriesOf = (samples: readonly Sample[]) =>
    samples.map((sample, index) => compiled.entryOf(ruleTicket(sample, index)))
  const entries = entriesOf(tickets)
  const addAll = (added: typeof entries) => added.map((entry) => pool.add(entry))
  const empty = (slots: readonly number[]) => {
    for (const slot of slots.toReversed()) pool.remove(slot)
  }
  const addingMs = () => {
    const begun = performance.now()
    const slots = addAll(entriesOf(tickets.slice(0, ADDING.tickets)))
    const spent = performance.now() - begun
    empty(slots)
    return spent
  }
  return {
    round: () => {
      const slots = addAll(entries)
      const spent = cpuOf(() => void pool.group(NOW))
      empty(slots)
      return spent
    },
    matches: () => {
      const slots = addAll(entries)
      const bySlot = new Map(slots.map((slot, index) => [slot, tickets[index] as Sample]))
      const matches = Array.from(pool.group(NOW), (group) => group.slots.map((slot) => bySlot.get(slot) as Sample))
      empty(slots)
      return matches
    },
    notes: () => {
      const ms = median(Array.from({ length: ADDING.passes }, addingMs))
      return { addsPerS: Math.round((1000 * Math.min(tickets.length, ADDING.tickets)) / ms) }
    },
  }
}

contend(createOurs)
