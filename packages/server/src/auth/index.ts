/** Authentication: identifies callers and rejects tokens. */
export { type AuthOptions, createAuth } from './auth.js'
export { createRefusals } from './refusals.js'
