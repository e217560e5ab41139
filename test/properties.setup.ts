import fc from 'fast-check'

/**
 * Properties try the same cases in every run, so a test that passed passes again. `pnpm fuzz` tries others. Lists are
 * as long as each property says: by itself, fast-check makes them ten entries long at most.
 */
fc.configureGlobal({ seed: Number(process.env['MUSTER_SEED'] ?? 1), defaultSizeToMaxWhenMaxSpecified: true })
