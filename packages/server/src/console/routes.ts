/** The routes of the console's API, as data. The answers' types are those of `@muster/console/wire`. */
import { operation } from '@muster/core/api'
import { z } from 'zod'

export const consoleRoutes = {
  feed: operation('GET /feed', {
    summary: 'The state of everything, twice a second, as server-sent events',
    input: z.strictObject({}),
    output: z.unknown(),
    errors: [429, 503],
  }),
} as const

/** Routes that change something. */
export const operateRoutes: ReadonlySet<string> = new Set<string>([])
