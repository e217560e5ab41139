import type { DeploymentService } from '@muster/matchmaker'
import type { ServerAllocator } from '@muster/matchmaker/internal'

/**
 * Wraps the service for a leader: a leader that has lost its lease, e.g. after a pause, must not create or stop a
 * server. The service does not know fencing tokens, so the lease is checked as late as possible. A create follows its
 * log entry, which a deposed leader cannot write. A stop checks the lease first. Both check the clock at the last
 * moment before the request is written.
 * @param isHeld returns true if the lease is certainly held.
 * @param assertLeading throws `LeaseLost` if another process leads.
 */
export function fencedService(
  service: DeploymentService,
  isHeld: () => boolean,
  assertLeading: () => Promise<void>,
): DeploymentService {
  return {
    get: (input, options) => service.get(input, options),
    list: (input, options) => service.list(input, options),
    ...(service.logs && { logs: service.logs.bind(service) }),
    create: (input, options) =>
      service.create(input, { ...options, mayWrite: () => isHeld() && options?.mayWrite?.() !== false }),
    stop: async (input, options) => {
      await assertLeading()
      return service.stop(input, { ...options, mayWrite: isHeld })
    },
  }
}

/** Wraps another source for a leader: see `fencedService`. */
export function fencedAllocator(
  allocator: ServerAllocator,
  isHeld: () => boolean,
  assertLeading: () => Promise<void>,
): ServerAllocator {
  return {
    lagMs: allocator.lagMs,
    poll: (ids, options) => allocator.poll(ids, options),
    ...(allocator.logs && { logs: allocator.logs.bind(allocator) }),
    allocate: (wanted, options) =>
      allocator.allocate(wanted, { ...options, mayWrite: () => isHeld() && options.mayWrite?.() !== false }),
    stop: async (id, options) => {
      await assertLeading()
      return allocator.stop(id, { ...options, mayWrite: isHeld })
    },
  }
}
