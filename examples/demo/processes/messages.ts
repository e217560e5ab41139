import type { Placed } from '@muster/matchmaker'
import type { Arrival } from '../crowd.js'

/** The settings that a process of the partition gets when it starts. */
export interface WorkerSetup {
  readonly redisUrl: string
  /** URL of the emulator, which runs in the demo's own process. */
  readonly serviceUrl: string
  readonly queueSize: number | undefined
  readonly seed: number
}

/** The messages of a process of the partition. */
export type WorkerMessage =
  | { readonly kind: 'listening'; readonly port: number }
  /** The process leads from now on. */
  | { readonly kind: 'leading' }
  | { readonly kind: 'following' }
  /** A match was found. */
  | { readonly kind: 'matched' }
  /** A server is READY; `placed` if latencies chose its place. */
  | { readonly kind: 'ready'; readonly queue: string; readonly placed: Placed | undefined }
  /** Players joined a match that was already running. */
  | { readonly kind: 'joined'; readonly queue: string; readonly players: number }
  /** Players left a match. */
  | { readonly kind: 'left'; readonly playerIds: readonly string[] }

/** The messages to the process of the players. */
export type PlayersOrder =
  /** The URLs of the ticket API that are valid from now on. */
  | { readonly kind: 'urls'; readonly urls: readonly string[] }
  | { readonly kind: 'come'; readonly arrivals: readonly Arrival[] }
  | { readonly kind: 'stop' }

/** The messages of the process of the players. */
export type PlayersMessage =
  | { readonly kind: 'ready' }
  /** The number of players, by queue and by the last seen state of their ticket. */
  | { readonly kind: 'seen'; readonly counts: Readonly<Record<string, SeenCounts>> }
  /** All tickets have ended, or the players were stopped. */
  | { readonly kind: 'over'; readonly acknowledged: readonly string[]; readonly repeated: number }

/** The numbers of players of a queue. */
export interface SeenCounts {
  readonly arrived: number
  readonly waiting: number
  readonly deploying: number
  readonly playing: number
}

/** Token of the backend, which creates tickets for players. */
export const BACKEND = 'backend'
/** Name of the partition in Redis. */
export const PARTITION = 'demo'
/** Returns the id of the ticket of an arrival. */
export const ticketIdOf = (index: number) => `ticket-${index}`
