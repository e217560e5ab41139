import type { KeyRow, ServerRow, SourceRow } from '@muster/console/internal'
import { groupBy } from '@muster/core/internal'
import type { Inspection } from '@muster/matchmaker'
import type { AllocationView } from '@muster/matchmaker/internal'

/** Returns the servers grouped by source, in the order of the list. */
export function sourceRows(rows: readonly ServerRow[]): readonly SourceRow[] {
  return Array.from(
    groupBy(rows, ({ source }) => source),
    ([source, those]) => ({
      source,
      servers: those.length,
      draining: those.filter(({ draining, state }) => draining !== null || state === 'stopping').length,
    }),
  )
}

/** Returns the enrolment keys of the configuration, and removed keys that still have servers. */
export function keyRows(enrolments: Inspection['enrolments'], servers: readonly AllocationView[]): readonly KeyRow[] {
  const enrolled = groupBy(
    servers.filter(({ phase }) => phase !== 'stopping'),
    (server) => server.enrolled?.key,
  )
  const buildsOf = (some: readonly AllocationView[]) => [
    ...new Set(some.flatMap(({ enrolled: how }) => how?.build ?? [])),
  ]
  const configured = enrolments.map(({ key, pool, place, max, matches, builds = null }): KeyRow => {
    const own = (enrolled.get(key) ?? []).filter((server) => server.pool === pool)
    const allowed = { servers: max, matches, builds }
    return { key, pool, place, servers: own.length, allowed, builds: buildsOf(own) }
  })
  const isConfigured = new Set(enrolments.map(({ key }) => key))
  const others = [...enrolled].flatMap(([key, own]): KeyRow[] => {
    const [one] = own
    if (key === undefined || one === undefined || isConfigured.has(key)) return []
    const place = one.assignment?.location?.city ?? 'unknown'
    return [{ key, pool: one.pool ?? '', place, servers: own.length, allowed: null, builds: buildsOf(own) }]
  })
  return [...configured, ...others]
}
