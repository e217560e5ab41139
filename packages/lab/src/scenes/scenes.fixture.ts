import { defineQueue, type Queue, type QueueDefinition } from '@muster/matchmaker'
import { checkScenes } from './check-scenes.js'
import { runScenes } from './run-scenes.js'

const DEPLOY = { application: 'lab', version: 'lab' }

const queueOf = (queue: Omit<QueueDefinition, 'deploy'>): Queue => defineQueue({ ...queue, deploy: DEPLOY })

const DUEL = queueOf({
  name: 'duel',
  matchSize: 2,
  rules: [
    {
      kind: 'difference',
      name: 'skill',
      attribute: 'skill',
      max: [
        { afterMs: 0, value: 100 },
        { afterMs: 10_000, value: 250 },
      ],
    },
    { kind: 'distance', name: 'near', maxKm: 1500 },
    { kind: 'avoid' },
  ],
})

const ARENA = queueOf({
  name: 'arena',
  teams: [
    { name: 'red', size: { min: 1, max: 2 } },
    { name: 'blue', size: { min: 1, max: 2 } },
  ],
  expireAfterMs: 60_000,
  acceptance: { withinMs: 10_000 },
  rules: [
    { kind: 'balance', name: 'even', attribute: 'skill', max: 150 },
    { kind: 'latency', name: 'ping', maxMs: 100, missing: 'any' },
  ],
})

/** A queue whose limits follow the arrival of players (`targetWaitMs`). */
const STEADY = queueOf({
  name: 'steady',
  matchSize: 2,
  targetWaitMs: 10_000,
  rules: [{ kind: 'difference', name: 'skill', attribute: 'skill', max: { strictest: 10, loosest: 500 } }],
})

const QUEUES: readonly Queue[] = [DUEL, ARENA, STEADY]

/** The faults of a file as `path: words`; warnings begin with `(warning)`. */
export const faultsIn = (file: unknown, queues = QUEUES): string[] =>
  checkScenes(file, queues).faults.map(
    ({ severity, path, message }) => `${severity === 'warning' ? '(warning) ' : ''}${path.join('.')}: ${message}`,
  )

/** Runs one scene, and returns its failures as `expected: actual`. */
export async function shortfallsOf(scene: object, queues = QUEUES): Promise<string[]> {
  const { scenes, faults } = checkScenes({ scenes: [{ name: 'scene', ...scene }] }, queues)
  if (faults.length > 0) throw new Error(faults.map(({ path, message }) => `${path.join('.')}: ${message}`).join('\n'))
  const [result] = await runScenes(scenes)
  return (result?.failures ?? []).map(({ expected, instead }) => `${expected}: ${instead}`)
}
