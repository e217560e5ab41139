import { validateAll } from '@muster/core/internal'
import { z } from 'zod'
import type { AllocatedServer } from './server-allocator.js'

/** A member that may be missing or null. */
const optional = <Type>(type: z.ZodType<Type>) => type.nullish().transform((value) => value ?? undefined)

const entrySchema = z
  .object({
    id: z.string(),
    status: z.enum(['starting', 'ready', 'failed', 'ended', 'unknown', 'unclear']),
    host: optional(z.string().max(253)),
    ports: optional(
      z.record(
        z.string(),
        z.object({
          port: z.int().min(1).max(65_535),
          internal: optional(z.int().min(1).max(65_535)),
          protocol: optional(z.string().max(20)),
        }),
      ),
    ),
    location: optional(z.object({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) })),
    detail: optional(z.string()),
  })
  .refine(({ status, host }) => status !== 'ready' || (host ?? '') !== '', {
    path: ['host'],
    message: 'is required for a ready server',
  }) satisfies z.ZodType<AllocatedServer>

/** The id of an entry whose own id cannot be read. */
export const NO_ID = ''

/** Parses an entry of a poll's response. A malformed entry becomes `unclear`, so its server does not count as ended. */
export function readAllocated(entry: unknown): AllocatedServer {
  const { data, faults = [] } = validateAll(entrySchema, entry)
  if (data !== undefined) return data
  const { id } = Object(entry) as { readonly id?: unknown }
  const [{ field = 'entry', message } = { message: 'must be an object that describes a server' }] = faults
  return { id: typeof id === 'string' ? id : NO_ID, status: 'unclear', detail: `${field}: ${message}` }
}
