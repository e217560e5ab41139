// pure: the events in the lobbies of the relay demo, and their times
import type { Random } from '@muster/core/clock'

export interface DemoPlayer {
  readonly id: string
  readonly ip: string
}

/** The events in one lobby. */
export interface LobbyScript {
  /** Milliseconds after the demo's start at which the lobby is created. */
  readonly createdAfterMs: number
  /** The players who come before the start, the host first. */
  readonly gathering: readonly DemoPlayer[]
  /** The players who may come later. */
  readonly later: readonly DemoPlayer[]
  /** Milliseconds between the arrivals of two players. */
  readonly joinEveryMs: number
  readonly turns: readonly ScriptedTurn[]
}

export interface ScriptedTurn {
  /** Milliseconds after the previous turn. */
  readonly afterMs: number
  /** Random numbers from 0 to 1: `chance` decides what happens, and `whom` to which player. */
  readonly chance: number
  readonly whom: number
}

/** The players of a lobby, by what can happen to them in the next turn. */
export interface Cast {
  readonly clients: readonly string[]
  /** Players who have left and may come back. */
  readonly gone: readonly string[]
  /** Players who have never been in the lobby. */
  readonly later: readonly string[]
  readonly freeSlots: number
}

export interface Turn {
  readonly kind: 'join' | 'come back' | 'leave' | 'kick' | 'host leaves' | 'host hands over'
  /** Undefined if the turn concerns only the host. */
  readonly playerId: string | undefined
}

/** Number of slots of each lobby. */
export const SLOTS = 6

const PLAYERS_PER_LOBBY = 8
const LEAST_GATHERED = 3
/** Milliseconds within which all lobbies are created. */
const CREATE_WITHIN_MS = 3000
const TURNS = 6
const TURN_MS = { least: 500, spread: 1000 }
const JOIN_MS = { least: 60, spread: 200 }
/** One player in this number has the same address as the previous one. */
const SHARED_ADDRESS = 4

/** Draws the events in all lobbies. @param addresses one for each player of all lobbies, used one after another. */
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

/** Returns what happens in a turn: one of the turns that are possible. */
export function turnOf({ chance, whom }: ScriptedTurn, { clients, gone, later, freeSlots }: Cast): Turn {
  const one = (ids: readonly string[]) => ids[Math.floor(whom * ids.length)]
  // A player leaves only if another client remains to play with.
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
