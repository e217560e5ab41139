import { systemClock } from '@muster/core/clock'
import type { DeploymentService, QueueDefinition, Ticket, TicketInput } from '@muster/matchmaker'

/** Two single players, who are matched as soon as the second one comes. */
const duel: QueueDefinition = {
  name: 'duel',
  matchSize: 2,
  mode: 'arrival',
  deploy: { application: 'game', version: '1' },
}

/** A queue without matches: each ticket has a taste of its own, so it waits forever. */
const picky: QueueDefinition = {
  name: 'picky',
  matchSize: 2,
  rules: [{ kind: 'difference', attribute: 'taste', max: 0.5 }],
  expireAfterMs: 3_600_000,
  deploy: { application: 'game', version: '1' },
}

/** Options of a matchmaker in which no limit delays creates. */
export const unbounded = {
  queues: [duel, picky],
  maxServers: Infinity,
  maxStarting: Infinity,
  maxCreatesInFlight: Infinity,
  readsPerSecond: 1e6,
}

/**
 * Creates a service whose servers are READY at once, as a webhook reports. They stay so for every process. Its list
 * never answers, because the cost of sweeps is measured elsewhere. @param hint called in place of a webhook.
 */
export function readyAtOnce(hint: (requestId: string) => unknown): DeploymentService {
  let created = 0
  return {
    create: async () => {
      created += 1
      const requestId = `r${process.pid}-${created}`
      // A webhook comes after the response to the create, not together with it.
      setImmediate(() => hint(requestId))
      return { request_id: requestId }
    },
    get: async ({ request_id }) => ({
      request_id,
      current_status: 'Status.READY',
      fqdn: 'server.example.com',
      ports: {
        game: { internal: 7777, external: 30_000, protocol: 'UDP', name: 'game', link: 'server.example.com:30000' },
      },
    }),
    stop: async () => ({ message: 'stopped' }),
    list: () => new Promise(() => {}),
  }
}

export const ticketOf = (id: string): TicketInput & { readonly id: string } => ({
  id,
  queue: 'duel',
  players: [{ id: `p${id}`, ip: '192.0.2.1', attributes: { skill: 1500 } }],
})

export const standingTicket = (nth: number): TicketInput => ({
  id: `standing${nth}`,
  queue: 'picky',
  players: [{ id: `ps${nth}`, ip: '192.0.2.1', attributes: { taste: nth, skill: 1500 } }],
})

/** Creates tickets at an even rate, without waiting for their results. Resolves once the last one is due. */
export async function createAtRate(rate: number, seconds: number, create: (nth: number) => void): Promise<void> {
  const startedAt = systemClock.now()
  const total = rate * seconds
  for (let created = 0; created < total;) {
    const due = Math.min(total, Math.floor(((systemClock.now() - startedAt) / 1000) * rate))
    while (created < due) create(created++)
    await systemClock.sleep(1)
  }
}

/** Calls a function this many times, `atOnce` calls at the same time. */
export async function manyAtOnce(total: number, atOnce: number, visit: (nth: number) => Promise<void>): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < total) await visit(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

interface Waited {
  waitForChange(id: string, options: { readonly version: number }): Promise<Ticket>
}

/** Resolves once the players of the ticket know the server's address. */
export async function assigned(service: Waited, id: string): Promise<void> {
  for (let version = 1; ;) {
    const ticket = await service.waitForChange(id, { version })
    if (ticket.status === 'HOST_ASSIGNED') return
    version = ticket.version
  }
}

/** Returns the CPU microseconds that this process has used. */
export function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Returns nanoseconds of the machine's clock, which all its processes share. */
export const machineNs = (): number => Number(process.hrtime.bigint())
