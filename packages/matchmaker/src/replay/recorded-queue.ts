// pure: what is written down of a queue
import type { QueueDefinition } from '../queues/queue.js'

/**
 * The recorded form of a queue. Variables of servers, and the URL and payload of a probe, are left out: they may be
 * secret, and a replay deploys nothing.
 */
export function recordedQueue(queue: QueueDefinition): QueueDefinition {
  const { deploy } = queue as Partial<QueueDefinition>
  if (typeof deploy !== 'object' || deploy === null) return queue
  const { environment: _, hiddenEnvironment: __, probe, ...told } = deploy
  if (probe === undefined) return { ...queue, deploy: told }
  const kept = probe.kind === 'registration' ? { kind: probe.kind } : { kind: probe.kind, port: probe.port }
  return { ...queue, deploy: { ...told, probe: kept } }
}
