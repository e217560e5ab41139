import { InvalidInput } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { linkedSignal, manyWaitOn } from '@muster/core/runtime'
import type { Queue, Ticket, TicketService } from '@muster/matchmaker'
import { botParty, type BotWorld } from './bot-player.js'

export interface BotsOptions {
  readonly service: () => TicketService
  /** The queues in force. */
  readonly queues: () => readonly Queue[]
  readonly world: BotWorld
  readonly clock: Clock
  readonly onProblem: (error: unknown) => void
}

/** Crowds of bots who play as people do: they arrive, wait, accept, play for a while, leave; some give up. */
export interface Bots {
  /** @throws {InvalidInput} for more than may be here at once */
  readonly letIn: (players: number) => void
  /** How many are here. */
  readonly here: () => number
  /** Sends all of them away. Resolves when nothing of theirs is under way. */
  readonly close: () => Promise<void>
}

/** Bots that may be here at once (our choice: as many as a laptop bears). */
const MOST = 20_000
/** Milliseconds over which a crowd arrives; a large one arrives at 500 a second. */
const ARRIVING_MS = 10_000
const MOST_PER_SECOND = 500
/** Milliseconds, from and to. */
const PATIENCE_MS = [30_000, 180_000] as const
const THINKING_MS = [300, 4000] as const
const PLAYING_MS = [20_000, 90_000] as const
/** Of those who are asked, how many accept. */
const ACCEPTING = 0.95

export function createBots({ service, queues, world, clock, onProblem }: BotsOptions): Bots {
  const { random } = world
  const leaving = manyWaitOn()
  const underWay = new Set<Promise<void>>()
  let here = 0
  let made = 0

  const begin = (work: Promise<void>) => {
    const done = work.catch((error: unknown) => {
      if (!leaving.signal.aborted) onProblem(error)
    })
    underWay.add(done)
    void done.then(() => underWay.delete(done))
  }
  const pause = (ms: number) => clock.sleep(ms, leaving.signal)

  const arrive = async (players: number): Promise<void> => {
    const overMs = Math.max(ARRIVING_MS, (players / MOST_PER_SECOND) * 1000)
    const eachMs = overMs / players
    for (let left = players; left > 0;) {
      const queue = queues()[Math.floor(random() * queues().length)] as Queue
      const size = Math.min(left, partySize(queue, random))
      left -= size
      const ids = Array.from({ length: size }, () => `bot-${(made += 1)}`)
      begin(play(queue, ids).finally(() => (here -= size)))
      await pause(eachMs * size * -Math.log(1 - random()))
    }
  }

  const play = async (queue: Queue, ids: readonly string[]): Promise<void> => {
    const patience = linkedSignal(leaving.signal)
    try {
      const ticket = await service().createTicket({ queue: queue.name, players: botParty(queue, ids, world) })
      begin(clock.sleep(between(PATIENCE_MS, random), patience.signal).then(patience.abort, () => {}))
      const matched = await follow(ticket, patience.signal)
      if (matched?.matchId === undefined) return
      patience.abort()
      await pause(between(PLAYING_MS, random)).catch(() => {})
      await service().playersLeft(matched.matchId, ids)
    } finally {
      patience.unlink()
      patience.abort()
    }
  }

  /** Follows a ticket until its players are told where to connect; undefined if that never happens. */
  const follow = async (created: Ticket, patience: AbortSignal): Promise<Ticket | undefined> => {
    let ticket = created
    for (;;) {
      if (ticket.status === 'HOST_ASSIGNED') return ticket
      if (ticket.status === 'CANCELLED') return undefined
      if (isAsked(ticket)) {
        await pause(between(THINKING_MS, random)).catch(() => {})
        ticket = await answer(ticket)
        continue
      }
      try {
        ticket = await service().waitForChange(ticket.id, { version: ticket.version, signal: patience })
      } catch (error) {
        if (!patience.aborted) throw error
        await service().cancelTicket(ticket.id)
        return undefined
      }
    }
  }
  /** The match may be gone by now, and the time to answer over. */
  const answer = async (ticket: Ticket): Promise<Ticket> => {
    try {
      return await (random() < ACCEPTING ? service().acceptMatch(ticket.id) : service().declineMatch(ticket.id))
    } catch {
      return (await service().getTicket(ticket.id)) ?? { ...ticket, status: 'CANCELLED' }
    }
  }

  return {
    letIn: (players) => {
      if (!Number.isSafeInteger(players) || players < 1)
        throw new InvalidInput(`players must be a whole number from 1, got ${players}`, { field: 'players' })
      if (here + players > MOST)
        throw new InvalidInput(`players must be at most ${MOST - here}: ${MOST} bots at once`, { field: 'players' })
      here += players
      begin(arrive(players))
    },
    here: () => here,
    close: async () => {
      leaving.abort(new Error('the bots are sent away'))
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

const between = ([from, to]: readonly [number, number], random: Random) => from + (to - from) * random()

/** Most come alone. */
function partySize({ teams }: Queue, random: Random): number {
  const most = Math.max(1, ...teams.map(({ size }) => sizeOf(size)))
  if (random() < 0.7) return 1
  return Math.min(most, 1 + Math.floor(random() * 4))
}

const sizeOf = (size: unknown): number => (typeof size === 'number' ? size : (size as { readonly max: number }).max)

/** Whether somebody of the ticket has still to say whether they accept. */
const isAsked = ({ acceptance, players }: Ticket) => (acceptance?.accepted.length ?? Infinity) < players.length
