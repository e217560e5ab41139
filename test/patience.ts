/**
 * Timeouts of tests. They are long, because a busy machine takes several times as long. Only a hanging test should
 * fail.
 */
export const PATIENCE = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 60_000 } } }
