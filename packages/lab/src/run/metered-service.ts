import type { Clock } from '@muster/core/clock'
import type { DeploymentService } from '@muster/matchmaker'
import { createStubService } from '@muster/matchmaker/replay'
import type { RequestUse, ServerUse } from './outcome.js'
import { createRequestMeter } from './request-meter.js'

/** A service in memory, without limits and with room for all servers, that counts what is asked of it. */
export interface MeteredService {
  readonly service: DeploymentService
  /** Number of servers that were asked for and not stopped. */
  running(): number
  servers(): ServerUse
  requests(): Record<string, RequestUse>
}

/**
 * A create is answered when its server is READY, after the call of its webhook. So a matchmaker reads one status for
 * each server, at that moment. To look for READY servers, as without a webhook, would take it longer than all else in a
 * run, and would only show that it makes as many reads and lists as their limits leave: so these are not counted. Lists
 * are not answered: they are for servers that were lost or have ended by themselves, and there are none.
 * @param startMs milliseconds from create to READY.
 * @param ready the webhook.
 */
export function createMeteredService(
  clock: Clock,
  startMs: number,
  ready: (requestId: string) => void,
): MeteredService {
  const stub = createStubService(clock, 0)
  const meter = createRequestMeter()
  /** When each server was asked for. */
  const since = new Map<string, number>()
  let created = 0
  let running = 0
  let most = 0
  let milliseconds = 0

  const service: DeploymentService = {
    create: async (input) => {
      const askedAt = clock.now()
      meter.sent('create', askedAt)
      created += 1
      running += 1
      most = Math.max(most, running)
      await clock.sleep(startMs)
      const answer = await stub.create(input)
      since.set(answer.request_id, askedAt)
      ready(answer.request_id)
      return answer
    },
    get: stub.get,
    list: () => new Promise(() => {}),
    stop: async (input) => {
      const answer = await stub.stop(input)
      meter.sent('stop', clock.now())
      running -= 1
      milliseconds += clock.now() - (since.get(input.request_id) ?? clock.now())
      since.delete(input.request_id)
      return answer
    },
  }
  return {
    service,
    running: () => running,
    servers: () => ({ created, most, seconds: milliseconds / 1000 }),
    requests: meter.uses,
  }
}
