import type { DeploymentService } from '@muster/matchmaker'

export interface Fence {
  /** Whether the lease is certainly held. */
  readonly isHeld: () => boolean
  /** Resolves if this process still leads. @throws {LeaseLost} */
  readonly assert: () => Promise<void>
}

/**
 * The service as a leader may use it: a leader that has lost its lease, e.g. after a pause, must not create or stop a
 * server. The service does not know fencing tokens, so the lease is checked as late as possible. A create follows its
 * log entry, which a deposed leader cannot write. A stop checks the lease first. Both check the clock at the last
 * moment before the request is written.
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
