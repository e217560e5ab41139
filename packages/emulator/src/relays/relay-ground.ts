import type { World } from '../world.js'

/** What relay sessions are made from and run on. */
export type RelayGround = Omit<World, 'deployments' | 'relays'>
