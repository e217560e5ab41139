import type { Clock } from '@muster/core/clock'
import { createLogReader, type ServerOutput } from '../../log-reader.js'
import type { ServerSource } from '../../source.js'
import { type DeploymentService, priorities } from '../deployment-service.js'

/**
 * Creates a reader of container logs. The service deletes the logs when a deployment is stopped (service-api,
 * Container logs). Undefined if the service has no logs.
 */
export function createContainerLogReader(service: DeploymentService, clock: Clock): ServerSource['logs'] {
  const { logs } = service
  if (logs === undefined) return undefined
  return createLogReader(
    async (requestId, call) =>
      writtenIn(await logs.call(service, { request_id: requestId }, { ...call, priority: priorities.find })),
    clock,
  )
}

type Logs = Awaited<ReturnType<NonNullable<DeploymentService['logs']>>>

/** Returns how the container ended, and its output. */
function writtenIn({ logs, encoding, crash_logs: crashed, crash_data: crash }: Logs): ServerOutput {
  const written = crashed || (logs ?? '')
  const text = /base-?64/i.test(encoding ?? '') ? Buffer.from(written, 'base64').toString('utf8') : written
  const { exit_code: exitCode, restart_count: restarts, message } = crash ?? {}
  const facts = [
    typeof exitCode === 'number' ? `exit code ${exitCode}` : '',
    typeof restarts === 'number' && restarts > 0 ? `restarted ${restarts} times` : '',
    message ?? '',
  ]
  return { head: facts.filter((fact) => fact !== '').join(', '), text }
}
