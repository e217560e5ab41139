import type { DeploymentService } from '@muster/matchmaker'

export interface Fence {
  /** Whether the lease is certainly held. */
  readonly isHeld: () => boolean
  /** Resolves if this process still leads. @throws {LeaseLost} */
  readonly assert: () => Promise<void>
}

/**
 * The service as a leader may use it: a leader that has lost its lease, be it that it was paused for a while, must not
 * create or stop a server. The service knows nothing of leaders, so the lease is looked at as late as possible: a
 * create follows the entry that says so, which a leader that was deposed cannot write; a stop asks before; and
 * both look at the clock at the last moment before the request is written.
 */
export function fencedService(service: DeploymentService, { isHeld, assert }: Fence): DeploymentService {
  return {
    get: (input, options) => service.get(input, options),
    list: (input, options) => service.list(input, options),
    create: (input, options) => service.create(input, { ...options, mayWrite: isHeld }),
    stop: async (input, options) => {
      await assert()
      return service.stop(input, { ...options, mayWrite: isHeld })
    },
  }
}
