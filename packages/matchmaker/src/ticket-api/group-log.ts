import type { Store } from '@muster/servers'
import type { StoredGroup } from './group.js'

/** Keeps groups beyond the process. */
export interface GroupKeeper {
  /** Those of an earlier process, the first to be stored first. */
  stored(): readonly StoredGroup[]
  /** Keeps a group as it will be. @throws {Unavailable}, and nothing has changed */
  write(stored: StoredGroup): void
  remove(groupId: string): void
}

/** Keeps groups in the ticket log. @param groups those that are stored now. */
export function createGroupLog(log: Pick<Store, 'records'>, groups: () => Iterable<StoredGroup>): GroupKeeper {
  const recordOf = ({ group, version }: StoredGroup) => ({ key: group.id, value: JSON.stringify({ version, group }) })
  const records = log.records('group', function* () {
    for (const stored of groups()) yield recordOf(stored)
  })
  return {
    stored: () => records.stored().map(({ value }) => JSON.parse(value) as StoredGroup),
    write: (stored) => records.write([recordOf(stored)]),
    remove: records.remove,
  }
}
