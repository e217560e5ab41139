import type { Fault } from '@muster/emulator'

/** The faults of `--faults`, as data: a service on a bad day. */
export const badDay: readonly Fault[] = [
  // The response is lost after the server was created. A second create would pay for two servers.
  { operation: 'deployments.create', probability: 0.02, drop: 'after' },
  { operation: 'deployments.create', probability: 0.01, drop: 'before' },
  { operation: 'deployments.create', probability: 0.02, deployment: 'error' },
  { operation: 'deployments.create', probability: 0.01, deployment: 'no capacity' },
  { operation: 'deployments.create', probability: 0.01, status: 500 },
  { operation: 'deployments.get', probability: 0.02, status: 503 },
  { operation: 'deployments.list', probability: 0.03, body: 'html' },
  { operation: 'deployments.stop', probability: 0.03, drop: 'after' },
  { operation: '*', probability: 0.02, delayMs: 40 },
]
