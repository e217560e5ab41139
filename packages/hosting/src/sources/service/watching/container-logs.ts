import type { Clock } from '@muster/core/clock'
import { scrub } from '@muster/core/internal'
import type { ServerSource } from '../../source.js'
import { type DeploymentService, priorities } from '../deployment-service.js'

/** Characters of the end that are kept (our choice): a stack trace and what came before it. */
const MOST_KEPT = 16 * 1024
/** Characters that are searched for secrets: more than are kept, so that no secret is cut in two. */
const MOST_SEARCHED = 2 * MOST_KEPT
/** Milliseconds by which a stop may be later because of the logs (our choice): the server costs meanwhile. */
const TIMEOUT_MS = 3000
/** Reads under way at most (our choice). When many servers fail at once, the stops of the others do not wait. */
const MOST_READS = 8

/**
 * Creates the reader of container logs, which the service has no more once a deployment is stopped (service-api,
 * Container logs). Undefined for a service that reads none.
 */
export function createContainerLogReader(service: DeploymentService, clock: Clock): ServerSource['logs'] {
  if (service.logs === undefined) return undefined
  let reads = 0
  return async (requestId, secrets) => {
    if (reads >= MOST_READS) return undefined
    reads += 1
    const ending = new AbortController()
    try {
      const options = { timeoutMs: TIMEOUT_MS, priority: priorities.find, signal: ending.signal }
      const read = service.logs?.({ request_id: requestId }, options)
      const late = clock.sleep(TIMEOUT_MS, ending.signal).then(() => undefined)
      const found = await Promise.race([read, late.catch(() => undefined)])
      return found && shown(found, secrets)
    } catch {
      // It is the server's failure that matters, and its stop.
      return undefined
    } finally {
      ending.abort()
      reads -= 1
    }
  }
}

type Logs = Awaited<ReturnType<NonNullable<DeploymentService['logs']>>>

/** How it crashed, and the end of what it wrote, without secrets and addresses. */
function shown({ logs, encoding, crash_logs: crashed, crash_data: crash }: Logs, secrets: readonly string[]) {
  const written = crashed || (logs ?? '')
  const text = /base-?64/i.test(encoding ?? '') ? Buffer.from(written, 'base64').toString('utf8') : written
  const { exit_code: exitCode, restart_count: restarts, message } = crash ?? {}
  const facts = [
    typeof exitCode === 'number' ? `exit code ${exitCode}` : '',
    typeof restarts === 'number' && restarts > 0 ? `restarted ${restarts} times` : '',
    message ?? '',
  ]
  const head = facts.filter((fact) => fact !== '').join(', ')
  const end = scrub(text.slice(-MOST_SEARCHED), secrets).slice(-MOST_KEPT).trimEnd()
  return [scrub(head, secrets).slice(0, 500), end].filter((part) => part !== '').join('\n') || undefined
}
