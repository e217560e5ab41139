/** Who calls, and which tokens are refused. */
export { type AuthOptions, createAuth } from './auth.js'
export { createRefusals } from './refusals.js'
