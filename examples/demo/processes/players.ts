import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Arrival } from '../crowd.js'
import type { PlayersMessage, PlayersOrder, SeenCounts } from './messages.js'

/** Controls the process of the players, for the demo. */
export interface PlayersProcess {
  /** Sets the URLs of the ticket API that are valid from now on. */
  reach(urls: readonly string[]): void
  /** Lets each player arrive at the player's own time. */
  come(arrivals: readonly Arrival[]): void
  /** Returns the numbers of players by queue, as they were last seen. */
  counts(): Readonly<Record<string, SeenCounts>>
  /** Returns true if all tickets have ended. */
  isOver(): boolean
  /** Ends the process. Resolves with the acknowledged tickets and the number of repeated requests. */
  stop(): Promise<PlayersEnd>
}

export interface PlayersEnd {
  readonly acknowledged: readonly string[]
  readonly repeated: number
}

export async function startPlayers(): Promise<PlayersProcess> {
  const child = fork(new URL('players-process.js', import.meta.url))
  const order = (one: PlayersOrder) => {
    if (child.connected) child.send(one)
  }
  let counts: Readonly<Record<string, SeenCounts>> = {}
  let end: PlayersEnd | undefined
  const exited = once(child, 'exit')
  const over = new Promise<void>((resolve) => {
    child.on('message', (message: PlayersMessage) => {
      if (message.kind === 'seen') counts = message.counts
      if (message.kind !== 'over') return
      end = message
      resolve()
    })
    void exited.then(() => resolve())
  })
  await once(child, 'message')

  return {
    reach: (urls) => order({ kind: 'urls', urls }),
    come: (arrivals) => order({ kind: 'come', arrivals }),
    counts: () => counts,
    isOver: () => end !== undefined,
    stop: async () => {
      order({ kind: 'stop' })
      await over
      if (end === undefined) throw new Error('the process of the players ended too early')
      if (child.connected) child.disconnect()
      await exited
      return end
    },
  }
}
