/** How long tests wait for anything: only what hangs is meant, since a busy machine takes several times as long. */
export const PATIENCE = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 60_000 } } }
