import fc from 'fast-check'

/** Properties try the same cases in every run, so that what passed once passes again. `pnpm fuzz` tries others. */
fc.configureGlobal({ seed: Number(process.env['MUSTER_SEED'] ?? 1) })
