import type { RateLimit } from '../operation.js'

/** The documented rate limits (service-api, Limits). Those of all other operations are not shown. */
export const limits = {
  createDeployment: { name: 'create deployment', limit: 40, windowMs: 1000 },
  status: { name: 'deployment status', limit: 20, windowMs: 1000 },
  listDeployments: { name: 'list deployments', limit: 10, windowMs: 1000 },
  legacyDeploy: { name: 'legacy deploy', limit: 40, windowMs: 1000 },
} as const satisfies Record<string, RateLimit>
