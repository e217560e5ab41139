import type { Clock, Random } from '@muster/core/clock'
import type { ServerKeys } from '../game-servers/index.js'
import type { Sources } from '../sources/index.js'
import type { ServerLogWriter } from '../store/index.js'
import type { AllocatorListener, Fleet } from './fleet.js'

/** The objects that all parts of an allocator share. */
export interface AllocatorContext {
  readonly sources: Sources
  readonly fleet: Fleet
  readonly writer: ServerLogWriter
  readonly keys: ServerKeys
  readonly clock: Clock
  readonly random: Random
  readonly on: AllocatorListener
}
