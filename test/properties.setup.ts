import fc from 'fast-check'

/** Properties try the same cases in every run, so a test that passed passes again. `pnpm fuzz` tries others. */
fc.configureGlobal({ seed: Number(process.env['MUSTER_SEED'] ?? 1) })
