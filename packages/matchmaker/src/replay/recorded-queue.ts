// pure: what is written down of a queue
import type { QueueDefinition } from '../queues/queue.js'

/**
 * A queue without what its servers are told besides: variables, hidden or not, and the URL and payload of a probe may
 * be secret, and no replay deploys anything.
 */
export function recordedQueue(queue: QueueDefinition): QueueDefinition {
  const { deploy } = queue as Partial<QueueDefinition>
  if (typeof deploy !== 'object' || deploy === null) return queue
  const { environment: _, hiddenEnvironment: __, probe, ...told } = deploy
  if (probe === undefined) return { ...queue, deploy: told }
  const kept = probe.kind === 'registration' ? { kind: probe.kind } : { kind: probe.kind, port: probe.port }
  return { ...queue, deploy: { ...told, probe: kept } }
}
