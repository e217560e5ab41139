// pure: what happens in the lobbies of the relay demo, and when
import type { Random } from '@muster/core/clock'

export interface DemoPlayer {
  readonly id: string
  readonly ip: string
}

/** The life of one lobby. */
export interface LobbyScript {
  /** Milliseconds after the demo's start at which it is created. */
  readonly createdAfterMs: number
  /** Who is there before it starts, the host first. */
  readonly gathering: readonly DemoPlayer[]
  /** Who may come later. */
  readonly later: readonly DemoPlayer[]
  /** Milliseconds between two who come. */
  readonly joinEveryMs: number
  readonly turns: readonly ScriptedTurn[]
}

export interface ScriptedTurn {
  /** Milliseconds after what was before. */
  readonly afterMs: number
  /** 0 to 1, each: what happens, and to whom. */
  readonly chance: number
  readonly whom: number
}

/** Who is where, as far as the next turn depends on it. */
export interface Cast {
  readonly clients: readonly string[]
  /** Were in, and may come back. */
  readonly gone: readonly string[]
  /** Have never been in. */
  readonly later: readonly string[]
  readonly freeSlots: number
}

export interface Turn {
  readonly kind: 'join' | 'come back' | 'leave' | 'kick' | 'host leaves' | 'host hands over'
  /** Undefined where it is the host's own matter. */
  readonly playerId: string | undefined
}

/** Slots of each lobby. */
export const SLOTS = 6

const PLAYERS_PER_LOBBY = 8
const LEAST_GATHERED = 3
/** All lobbies are created within this time. */
const CREATE_WITHIN_MS = 3000
const TURNS = 6
const TURN_MS = { least: 500, spread: 1000 }
const JOIN_MS = { least: 60, spread: 200 }
/** Every this many players share an address with the one before. */
const SHARED_ADDRESS = 4

/** @param addresses one for each player of all lobbies, used in turn. */
export function drawScripts(lobbies: number, addresses: readonly string[], random: Random): readonly LobbyScript[] {
  return Array.from({ length: lobbies }, (_, lobby) => {
    const players = Array.from({ length: PLAYERS_PER_LOBBY }, (__, index): DemoPlayer => {
      const number = lobby * PLAYERS_PER_LOBBY + index
      const addressOf = index % SHARED_ADDRESS === SHARED_ADDRESS - 1 ? number - 1 : number
      return { id: `player-${number}`, ip: addresses[addressOf % addresses.length] as string }
    })
    const gathered = LEAST_GATHERED + Math.floor(random() * (SLOTS - LEAST_GATHERED))
    return {
      createdAfterMs: (lobby / lobbies) * CREATE_WITHIN_MS,
      gathering: players.slice(0, gathered),
      later: players.slice(gathered),
      joinEveryMs: JOIN_MS.least + random() * JOIN_MS.spread,
      turns: Array.from({ length: TURNS }, () => ({
        afterMs: TURN_MS.least + random() * TURN_MS.spread,
        chance: random(),
        whom: random(),
      })),
    }
  })
}

/** Which of all that is possible happens. */
export function turnOf({ chance, whom }: ScriptedTurn, { clients, gone, later, freeSlots }: Cast): Turn {
  const one = (ids: readonly string[]) => ids[Math.floor(whom * ids.length)]
  // A player who leaves leaves somebody behind to play with.
  const mayGo = clients.length >= 2
  const turns: readonly (Turn & { readonly possible: boolean })[] = [
    { kind: 'join', playerId: one(later), possible: freeSlots > 0 && later.length > 0 },
    { kind: 'come back', playerId: one(gone), possible: freeSlots > 0 && gone.length > 0 },
    { kind: 'leave', playerId: one(clients), possible: mayGo },
    { kind: 'kick', playerId: one(clients), possible: mayGo },
    { kind: 'host leaves', playerId: undefined, possible: mayGo },
    { kind: 'host hands over', playerId: one(clients), possible: clients.length > 0 },
  ]
  const possible = turns.filter((turn) => turn.possible)
  const { kind, playerId } = possible[Math.floor(chance * possible.length)] as Turn
  return { kind, playerId }
}
