import type { Placed } from '@muster/matchmaker'
import type { Arrival } from '../crowd.js'

/** What a process of the partition gets when it is started. */
export interface WorkerSetup {
  readonly redisUrl: string
  /** Of the emulator, which is in the demo's own process. */
  readonly serviceUrl: string
  readonly queueSize: number | undefined
  readonly seed: number
}

/** What a process of the partition tells. */
export type WorkerMessage =
  | { readonly kind: 'listening'; readonly port: number }
  /** It leads from now on. */
  | { readonly kind: 'leading' }
  | { readonly kind: 'following' }
  /** A match was found. */
  | { readonly kind: 'matched' }
  /** A server is READY; `placed` if latencies chose its place. */
  | { readonly kind: 'ready'; readonly queue: string; readonly placed: Placed | undefined }
  /** Players came into a match that ran already. */
  | { readonly kind: 'joined'; readonly queue: string; readonly players: number }
  /** Players left a match. */
  | { readonly kind: 'left'; readonly playerIds: readonly string[] }

/** What the process of the players gets. */
export type PlayersOrder =
  /** Where the ticket API is, from now on. */
  | { readonly kind: 'urls'; readonly urls: readonly string[] }
  | { readonly kind: 'come'; readonly arrivals: readonly Arrival[] }
  | { readonly kind: 'stop' }

/** What the process of the players tells. */
export type PlayersMessage =
  | { readonly kind: 'ready' }
  /** Players by queue and by what they last saw of their ticket. */
  | { readonly kind: 'seen'; readonly counts: Readonly<Record<string, SeenCounts>> }
  /** All have an end, or were stopped. */
  | { readonly kind: 'over'; readonly acknowledged: readonly string[]; readonly repeated: number }

/** Players of a queue. */
export interface SeenCounts {
  readonly arrived: number
  readonly waiting: number
  readonly deploying: number
  readonly playing: number
}

/** Token of the backend that creates tickets for players. */
export const BACKEND = 'backend'
/** Name of the partition. */
export const PARTITION = 'demo'
/** Id of the ticket by which the players of an arrival wait. */
export const ticketIdOf = (index: number) => `ticket-${index}`
