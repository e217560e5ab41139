/** Bots. They join where a player waits, play badly, and leave for players. They are clients like any other. */
import { createMuster, type Assignment } from '@muster/client'
import { systemClock } from '@muster/core/clock'
import type { Matchmaker } from '@muster/matchmaker'
import { WebSocket } from 'ws'
import { playersIn } from './muster.js'
import { field, type Move, type World } from './rules.js'
import { isBot, type Sessions } from './sessions.js'

interface BotsOptions {
  /** URL of the ticket API. */
  readonly url: string
  readonly matchmaker: Pick<Matchmaker, 'inspect' | 'longestWaiting'>
  readonly sessions: Sessions
  readonly patienceMs: number
}

export interface Bots {
  readonly start: () => void
  /** Makes a bot leave a match, so that a waiting player gets its place. @returns true if the match had a bot */
  readonly makeWay: (matchId: string) => boolean
  readonly close: () => Promise<void>
}

interface Bot {
  readonly id: string
  readonly queue: string
  readonly leaving: AbortController
}

const LOOK_MS = 500
const THINK_MS = 120
/** Milliseconds after which a bot that finds no match leaves the queue. */
const BOT_PATIENCE_MS = 15_000

export function createBots({ url, matchmaker, sessions, patienceMs }: BotsOptions): Bots {
  const bots = new Map<string, Bot>()
  const closing = new AbortController()
  /** Since when a match of each queue has had a free place, by the queue's name. */
  const freeSince = new Map<string, number>()
  let running: Promise<void> | undefined

  const come = (queue: string) => {
    const token = sessions.begin('bot')
    const bot: Bot = { id: sessions.playerOf(token) ?? '', queue, leaving: new AbortController() }
    bots.set(bot.id, bot)
    void play(bot, token)
      .catch(() => {})
      .then(() => bots.delete(bot.id))
  }
  const play = async ({ queue, leaving: { signal } }: Bot, token: string) => {
    const muster = createMuster({ url, token })
    const bored = AbortSignal.any([signal, AbortSignal.timeout(BOT_PATIENCE_MS)])
    try {
      await skate(await muster.play({ profile: queue }, { signal: bored }), signal)
    } finally {
      muster.close()
    }
  }

  const look = () => {
    const { queues, matches } = matchmaker.inspect()
    const waiting = matchmaker.longestWaiting(100).tickets
    for (const { name, backfillSlots, players } of queues) {
      const longest = waiting.find(
        (ticket) => ticket.queues.includes(name) && !ticket.players.every(({ id }) => isBot(id)),
      )
      if (backfillSlots === 0) freeSince.delete(name)
      else if (!freeSince.has(name)) freeSince.set(name, systemClock.now())
      const waitedMs = systemClock.now() - Math.min(longest?.createdAt ?? Infinity, freeSince.get(name) ?? Infinity)
      if (waitedMs < patienceMs) continue
      const played = matches.find(({ queue, playerIds }) => queue === name && playerIds.some(isBot))
      if (longest !== undefined && played !== undefined && makeWay(played.matchId)) continue
      const missing = (backfillSlots > 0 ? backfillSlots : playersIn(name)) - players
      for (let nth = 0; nth < missing; nth += 1) come(name)
    }
    const isQuiet = waiting.length === 0 && bots.size === 0 && matches.every(({ playerIds }) => playerIds.length === 0)
    for (const name of isQuiet ? ['duel', 'duel'] : []) come(name)
  }
  const makeWay = (matchId: string) => {
    const match = matchmaker.inspect().matches.find((one) => one.matchId === matchId)
    const bot = match?.playerIds.map((id) => bots.get(id)).find((one) => one?.leaving.signal.aborted === false)
    bot?.leaving.abort()
    return bot !== undefined
  }

  return {
    makeWay,
    start: () => {
      running = (async () => {
        while (!closing.signal.aborted) {
          look()
          await systemClock.sleep(LOOK_MS, closing.signal).catch(() => {})
        }
      })()
    },
    close: async () => {
      closing.abort()
      await running
      for (const { leaving } of bots.values()) leaving.abort()
    },
  }
}

/** Plays until the match is over or the bot should leave. */
async function skate({ fqdn, ports, joinToken }: Assignment, signal: AbortSignal): Promise<void> {
  const socket = new WebSocket(`ws://${fqdn}:${ports['game']?.external}`)
  let me = ''
  let thoughtAt = 0
  const say = (message: object) => socket.readyState === socket.OPEN && socket.send(JSON.stringify(message))
  signal.addEventListener('abort', () => say({ leave: true }), { once: true })
  socket.on('open', () => say({ join: joinToken }))
  socket.on('message', (data) => {
    const { you, world } = JSON.parse(String(data)) as { readonly you?: string; readonly world?: World }
    me = you ?? me
    if (signal.aborted) say({ leave: true })
    if (world === undefined || systemClock.now() - thoughtAt < THINK_MS) return
    thoughtAt = systemClock.now()
    say({ move: botMove(world, me) })
  })
  await new Promise<void>((resolve) => socket.on('close', resolve).on('error', () => resolve()))
}

/** Returns where a bot moves: behind the puck, then through it towards the other goal. A bot is slower than people. */
export function botMove(
  { puck, skaters, secondsLeft }: Pick<World, 'puck' | 'skaters' | 'secondsLeft'>,
  me: string,
): Move {
  const own = skaters.find(({ id }) => id === me)
  if (own === undefined) return [0, 0]
  const toward = own.team === 0 ? 1 : -1
  const nth = skaters.indexOf(own)
  // In a team of two, the second bot keeps the goal. All bots rest from time to time, so that none holds the puck in a
  // corner.
  const isKeeper = skaters.filter(({ team }) => team === own.team).indexOf(own) === 1
  const rests = (((secondsLeft + nth * 2.3) % 7) + 7) % 7 < 1.2
  const home = { x: field.width / 2 - toward * field.width * 0.36, y: (puck.y + field.height / 2) / 2 }
  const ahead = (puck.x - own.x) * toward
  // A bot that is in front of the puck moves around it, so that the puck does not roll into its own goal.
  const around = (own.y > puck.y ? 1 : -1) * (ahead < 0 ? 2.4 : 0) * field.skater
  const behind = { x: puck.x - toward * 2.2 * field.skater, y: puck.y + around }
  const isBehind = ahead > field.puck && Math.abs(own.y - puck.y) < ahead
  const isFar = isKeeper && (puck.x - field.width / 2) * toward > 0
  const goal = rests || isFar ? home : isBehind ? puck : behind
  const [x, y] = [goal.x - own.x, goal.y - own.y]
  const speed = 0.6 / Math.max(60, Math.hypot(x, y))
  return [x * speed, y * speed]
}
