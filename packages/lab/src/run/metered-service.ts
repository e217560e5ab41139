import type { Clock } from '@muster/core/clock'
import type { DeploymentService } from '@muster/matchmaker'
import { createStubService } from '@muster/matchmaker/replay'
import type { RequestUse, ServerUse } from './outcome.js'
import { createRequestMeter } from './request-meter.js'

/** A service in memory, without limits, that counts what is asked of it. */
export interface MeteredService {
  readonly service: DeploymentService
  /** Number of servers that were created and not stopped. */
  running(): number
  servers(): ServerUse
  requests(): Record<string, RequestUse>
}

/** @param startMs milliseconds from create to READY. */
export function createMeteredService(clock: Clock, startMs: number): MeteredService {
  const stub = createStubService(clock, startMs)
  const meter = createRequestMeter()
  /** When each server that runs was created. */
  const since = new Map<string, number>()
  let created = 0
  let most = 0
  let milliseconds = 0

  const service: DeploymentService = {
    create: async (input) => {
      meter.sent('create', clock.now())
      const answer = await stub.create(input)
      since.set(answer.request_id, clock.now())
      created += 1
      most = Math.max(most, since.size)
      return answer
    },
    get: (input) => {
      meter.sent('get', clock.now())
      return stub.get(input)
    },
    list: (input) => {
      meter.sent('list', clock.now())
      return stub.list(input)
    },
    stop: async (input) => {
      meter.sent('stop', clock.now())
      const answer = await stub.stop(input)
      milliseconds += clock.now() - (since.get(input.request_id) ?? clock.now())
      since.delete(input.request_id)
      return answer
    },
  }
  return {
    service,
    running: () => since.size,
    servers: () => ({ created, most, seconds: milliseconds / 1000 }),
    requests: meter.uses,
  }
}
