import type { Deployment } from '@muster/core/api'
import type { Timers } from '../timers.js'
import type { DeploymentRecord, WebhookTargets } from './deployment-record.js'
import type { StatusName } from './lifecycle.js'
import { sendDespite, type Webhooks } from './webhooks.js'

/** Posts the webhooks of deployments. */
export interface DeploymentWebhooks {
  /** Called when a deployment has just been created. */
  created(record: DeploymentRecord): void
  /** Called when a deployment has reached another status. */
  changed(record: DeploymentRecord): void
  /** Resolves when the calls to the deployment's ready webhook that have been started so far are over. */
  readyCalled(record: DeploymentRecord): Promise<void>
}

const events: Readonly<Partial<Record<StatusName, keyof WebhookTargets>>> = {
  READY: 'ready',
  ERROR: 'error',
  TERMINATED: 'terminated',
}

/**
 * Creates the sender of deployments' webhooks.
 * @param view returns a deployment as the service shows it now: the body of every call (public fact).
 */
export function createDeploymentWebhooks(
  webhooks: Webhooks,
  timers: Timers,
  view: (record: DeploymentRecord) => Deployment,
): DeploymentWebhooks {
  const readyCalls = new WeakMap<DeploymentRecord, Promise<void>>()
  return {
    created: (record) => {
      const { ready } = record.webhooks
      if (record.webhookFault === 'forged' && ready !== undefined) void webhooks.send(ready, forged(view(record)))
    },
    changed: (record) => {
      const event = events[record.life.status]
      const url = event && record.webhooks[event]
      if (url === undefined) return
      const calls = sendDespite(record.webhookFault, webhooks, timers, url, view(record))
      if (event === 'ready') readyCalls.set(record, calls)
    },
    readyCalled: (record) => readyCalls.get(record) ?? Promise.resolve(),
  }
}

/** A forged webhook: what an attacker who knows the URL might post to lead players to another server. */
const forged = (view: Deployment): Deployment => ({
  ...view,
  current_status: 'Status.READY',
  last_status: 'Status.DEPLOYING',
  running: true,
  fqdn: 'forged.emulator.invalid',
  public_ip: '203.0.113.254',
  ports: {
    game: {
      name: 'game',
      external: 31_337,
      internal: 7777,
      protocol: 'UDP',
      tls_upgrade: false,
      link: 'forged.emulator.invalid:31337',
      proxy: 31_337,
    },
  },
})
