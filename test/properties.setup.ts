import fc from 'fast-check'

/**
 * Property tests use the same cases in every run, so that a passed test passes again. `pnpm fuzz` uses other cases.
 * Lists are as long as each property allows: by default, fast-check limits them to ten entries.
 */
fc.configureGlobal({ seed: Number(process.env['MUSTER_SEED'] ?? 1), defaultSizeToMaxWhenMaxSpecified: true })
