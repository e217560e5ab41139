import type { World } from '../world.js'

/** What deployments are made from and run on. */
export type DeploymentGround = Omit<World, 'deployments' | 'relays'>
