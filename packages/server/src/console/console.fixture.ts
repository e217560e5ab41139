import { createManualClock, seededRandom } from '@muster/core/clock'
import { bearerToken } from '@muster/core/http'
import { createMatchmaker, type Matchmaker, type MatchmakerOptions, type QueueDefinition } from '@muster/matchmaker'
import { createConsole } from './console.js'
import type { AuditedAction, ConsoleMatchmaker, ConsoleOptions, Operator } from './options.js'
import { createFakeService } from './service.fixture.js'

const deploy = { application: 'game', version: '1' }
const duel: QueueDefinition = {
  name: 'duel',
  matchSize: 2,
  rules: [
    {
      kind: 'difference',
      attribute: 'skill',
      max: [
        { afterMs: 0, value: 50 },
        { afterMs: 10_000, value: 200 },
      ],
    },
  ],
  deploy,
}

/** Tokens of the fixture's operators. */
const tokens: Readonly<Record<string, Operator>> = {
  looker: { who: 'lou', role: 'look' },
  operator: { who: 'olga', role: 'operate' },
  keeper: { who: 'kim', role: 'players' },
  designer: { who: 'dan', role: 'rules' },
  deployer: { who: 'dora', role: 'deploy' },
}

/** A matchmaker on a manual clock with a service in memory, and the options of a console for it. */
export function setUp({
  queues = [duel],
  startMs,
  matchmaker: given,
  shown = (plain) => plain,
  ...options
}: Partial<Omit<ConsoleOptions, 'matchmaker' | 'queues'>> & {
  readonly queues?: readonly QueueDefinition[] | undefined
  readonly startMs?: number | undefined
  readonly matchmaker?: Partial<MatchmakerOptions> | undefined
  /** The part of the matchmaker that the console gets. Default: all. */
  readonly shown?: ((plain: Matchmaker) => ConsoleMatchmaker) | undefined
} = {}) {
  const clock = createManualClock()
  const service = createFakeService({ clock, startMs })
  let inForce = queues
  const plain = createMatchmaker({
    deployments: service.deployments,
    queues,
    clock,
    random: seededRandom(1),
    ...given,
  })
  const acts: AuditedAction[] = []
  const errors: unknown[] = []
  const console = createConsole({
    matchmaker: shown(plain),
    name: 'arena',
    version: '1.2.3',
    store: 'memory',
    queues: () => inForce,
    operatorOf: (request) => tokens[bearerToken(request) ?? ''],
    acted: (act) => acts.push(act),
    spending: () => ({ maxServers: 1000, maxCreatesPerMinute: Infinity }),
    onError: (error) => errors.push(error),
    clock,
    ...options,
  })
  const matchmaker = console.recording(plain)
  const use = (changed: readonly QueueDefinition[]) => {
    inForce = changed
    return matchmaker.reconfigure(changed)
  }
  return { clock, service, matchmaker, console, acts, errors, use }
}
