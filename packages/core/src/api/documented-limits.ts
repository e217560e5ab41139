import type { RateLimit } from '../operation.js'

/** The documented rate limits of the service (service-api, Limits), e.g. 40 creates per second. */
export const limits = {
  createDeployment: { name: 'createDeployment', limit: 40, windowMs: 1000 },
  status: { name: 'status', limit: 20, windowMs: 1000 },
  listDeployments: { name: 'listDeployments', limit: 10, windowMs: 1000 },
  legacyDeploy: { name: 'legacyDeploy', limit: 40, windowMs: 1000 },
} as const satisfies Record<string, RateLimit>
