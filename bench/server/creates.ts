import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atLeast, atMost, type Figures } from '../figure.js'
import { setUp, type LoadFleet } from '../matchmaker/load-fleet.js'
import type { ServerState } from '../matchmaker/ticket-api-messages.js'
import { configuration, environment } from './configuration.js'
import { startService } from './service.js'

const PROGRAM = new URL('./program-process.js', import.meta.url)
const ROUNDS = 5
const TICKETS = 20_000
const CONNECTIONS = 32

/**
 * Measures creates through the whole program over loopback HTTP. Each create is made by another player, whose token is
 * verified and contains the skill. Tickets in memory and the log of tickets take turns, so that both find the machine
 * in the same state.
 */
export async function createFigures(): Promise<Figures> {
  const service = await startService()
  const folder = await mkdtemp(join(tmpdir(), 'muster-bench-'))
  const memory = await open(configuration({ serviceUrl: service.url }))
  const logged = await open(configuration({ serviceUrl: service.url, folder }))
  const [rates, ratios]: [number[], number[]] = [[], []]
  for (let round = 0; round <= ROUNDS; round += 1) {
    const [plain, withLog] = [await costOf(memory, round), await costOf(logged, round)]
    // The first round only warms up the compiler.
    if (round === 0) continue
    rates.push(1e6 / plain)
    ratios.push((100 * (withLog - plain)) / plain)
  }
  for (const fleet of [memory, logged]) fleet.close()
  await service.close()
  await rm(folder, { recursive: true, force: true })
  return {
    figures: [
      atLeast('program: creates per second of CPU, by tokens', rates, 12_000, 'tickets/s'),
      atMost('program: cost of the log of tickets, of a create', ratios, 15, '%'),
    ],
    peers: {},
  }
}

const open = (text: string) => setUp<ServerState>(PROGRAM, 1, [text], environment)

/** Returns the CPU microseconds of the program for a ticket. */
async function costOf({ state, order }: LoadFleet<ServerState>, round: number): Promise<number> {
  const before = await state()
  await order(0, {
    kind: 'create',
    credentials: 'tokens',
    port: before.port,
    from: round * TICKETS,
    tickets: TICKETS,
    perRequest: 1,
    connections: CONNECTIONS,
  })
  return ((await state()).cpuMicroseconds - before.cpuMicroseconds) / TICKETS
}
