import type { Placed } from '@muster/matchmaker'
import type { Arrival } from '../crowd.js'
import { playersTo } from '../players-in.js'
import type { Progress } from '../progress.js'
import type { DemoQueue } from '../queues.js'
import type { SeenCounts, WorkerMessage } from './messages.js'

/** Adds up the messages of all processes. */
export interface Tally {
  heard(message: WorkerMessage): void
  readonly joined: ReadonlyMap<string, number>
  readonly placed: ReadonlyMap<string, readonly Placed[]>
  readonly left: ReadonlySet<string>
  progress(now: ProgressInput): Progress
}

export interface ProgressInput {
  readonly phase: Progress['phase']
  readonly queues: readonly DemoQueue[]
  readonly arrivals: readonly Arrival[]
  /** The numbers of players, by queue. */
  readonly counts: Readonly<Record<string, SeenCounts>>
  readonly requests: number
}

export function createTally(): Tally {
  const joined = new Map<string, number>()
  const placed = new Map<string, Placed[]>()
  const left = new Set<string>()
  let matches = 0
  let serversReady = 0

  return {
    joined,
    placed,
    left,
    heard: (message) => {
      switch (message.kind) {
        case 'matched':
          matches += 1
          break
        case 'ready':
          serversReady += 1
          if (message.placed !== undefined)
            placed.set(message.queue, [...(placed.get(message.queue) ?? []), message.placed])
          break
        case 'joined':
          joined.set(message.queue, (joined.get(message.queue) ?? 0) + message.players)
          break
        case 'left':
          for (const id of message.playerIds) left.add(id)
          break
        default:
      }
    },
    progress: ({ phase, queues, arrivals, counts, requests }) => ({
      queues: queues.map(({ title, definition: { name } }) => ({
        title,
        players: playersTo(name, arrivals),
        ...(counts[name] ?? NOBODY),
      })),
      matches,
      serversReady,
      requests,
      limits: [],
      longest: undefined,
      phase,
    }),
  }
}

const NOBODY: SeenCounts = { arrived: 0, waiting: 0, deploying: 0, playing: 0 }
