import { validateAll } from '@muster/core/internal'
import { z } from 'zod'
import type { AllocatedServer } from './server-allocator.js'

/** A member that may be missing or null. */
const optional = <Type>(type: z.ZodType<Type>) => type.nullish().transform((value) => value ?? undefined)

/** Maximum number of ports of a server (our choice), because every player of a match gets all of them. */
const MOST_PORTS = 64

const entrySchema = z
  .object({
    id: z.string().min(1),
    status: z.enum(['starting', 'ready', 'failed', 'ended', 'unknown', 'unclear']),
    host: optional(z.string().max(253)),
    ports: optional(
      z
        .record(
          z.string().min(1).max(64),
          z.object({
            port: z.int().min(1).max(65_535),
            internal: optional(z.int().min(1).max(65_535)),
            protocol: optional(z.string().max(20)),
          }),
        )
        .refine((given) => Object.keys(given).length <= MOST_PORTS, `must have at most ${MOST_PORTS} ports`),
    ),
    location: optional(z.object({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) })),
    detail: optional(z.string()),
  })
  .refine(({ status, host }) => status !== 'ready' || (host ?? '') !== '', {
    path: ['host'],
    message: 'is required for a ready server',
  }) satisfies z.ZodType<AllocatedServer>

/** The id of an entry whose own id is empty or cannot be read. */
export const NO_ID = ''

/**
 * Parses the entries of a poll's response by id. Those about other servers are ignored unread, because an allocator may
 * list thousands. A server whose entries contradict each other has an unclear state.
 */
export function readAllocated(
  ids: readonly string[],
  entries: readonly unknown[],
): ReadonlyMap<string, AllocatedServer> {
  const asked = new Set([NO_ID, ...ids])
  const latest = new Map<string, unknown>()
  const contradicted = new Set<string>()
  for (const entry of entries) {
    const id = idIn(entry)
    if (!asked.has(id)) continue
    if (latest.has(id) && statusIn(latest.get(id)) !== statusIn(entry)) contradicted.add(id)
    latest.set(id, entry)
  }
  const detail = 'two entries say different statuses'
  return new Map(
    Array.from(latest, ([id, entry]) => [
      id,
      contradicted.has(id) ? { id, status: 'unclear', detail } : readEntry(entry),
    ]),
  )
}

const statusIn = (entry: unknown) => (Object(entry) as { readonly status?: unknown }).status

function idIn(entry: unknown): string {
  const { id } = Object(entry) as { readonly id?: unknown }
  return typeof id === 'string' ? id : NO_ID
}

/** Parses an entry. A malformed one becomes `unclear`, so its server does not count as ended. */
function readEntry(entry: unknown): AllocatedServer {
  const { data, faults = [] } = validateAll(entrySchema, entry)
  if (data !== undefined) return data
  const [{ field = 'entry', message } = { message: 'must be an object that describes a server' }] = faults
  return { id: idIn(entry), status: 'unclear', detail: `${field}: ${message}` }
}
