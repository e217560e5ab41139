import { createManualClock, seededRandom } from '@muster/core/clock'
import type { Matchmaker } from './matches/matchmaker.js'
import type { EventName, MatchmakerEvents } from './events.js'
import { createMatchmakerOver } from './create-matchmaker.js'
import type { MatchmakerOptions } from './options.js'
import type { QueueDefinition } from './queues/queue.js'
import type { ServerLog } from '@muster/hosting/internal'
import { createTestService, type ServiceOptions } from '@muster/hosting/service-fixture'

export const deploy = { application: 'game', version: '1' }
export const duel = { name: 'duel', matchSize: 2, deploy } satisfies QueueDefinition

const eventNames = [
  'ticketCreated',
  'matchFound',
  'matchAccepted',
  'backfillJoined',
  'backfillCreated',
  'backfillChanged',
  'playersLeft',
  'matchOver',
  'cooldownBegan',
  'cooldownForgiven',
  'queuePaused',
  'queueResumed',
  'poolPaused',
  'deploymentCreated',
  'serverAssigned',
  'ticketRequeued',
  'cancelled',
  'expired',
  'deploymentFailed',
  'deploymentStopped',
  'serverRegistered',
  'serverTaken',
  'serverFreed',
  'serverDraining',
  'serverLost',
  'serverReturned',
  'orphanStopped',
  'problem',
] as const satisfies readonly EventName[]

/** Records all events of a matchmaker. Returns them, and functions by which tests use its tickets. */
export function watched(matchmaker: Matchmaker) {
  const seen: { [Name in EventName]?: MatchmakerEvents[Name][] } = {}
  const names: EventName[] = []
  const watch = <Name extends EventName>(name: Name) =>
    matchmaker.on(name, (event) => {
      names.push(name)
      const events: MatchmakerEvents[Name][] = (seen[name] ??= [])
      events.push(event)
    })
  for (const name of eventNames) watch(name)
  const join = (...players: string[]) =>
    matchmaker.createTicket({
      id: players.join('-'),
      queue: 'duel',
      players: players.map((id) => ({ id, ip: '198.51.100.7' })),
    })
  const status = (id: string) => matchmaker.getTicket(id)?.status
  return { seen, names, join, status }
}

interface SetUpOptions extends Partial<MatchmakerOptions> {
  readonly service?: Omit<ServiceOptions, 'clock'>
  /** Stores the servers, without the tickets. Default: they end with the process. */
  readonly serverLog?: ServerLog | undefined
}

/** Creates a matchmaker on a manual clock with a service in memory, and a record of all its events. */
export function setUp(options: SetUpOptions = {}) {
  const { service: serviceOptions, serverLog, ...given } = options
  const clock = createManualClock()
  const service = createTestService({ clock, ...serviceOptions })
  const matchmaker = createMatchmakerOver(
    { deployments: service.deployments, queues: [duel], clock, random: seededRandom(1), listLagMs: 4000, ...given },
    (none) => serverLog ?? none,
  )
  /** Runs ticks at the interval of `start`. */
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await matchmaker.tick()
      await clock.advance(250)
    }
  }
  return { clock, service, matchmaker, run, ...watched(matchmaker) }
}
