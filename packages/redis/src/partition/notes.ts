// pure: notes of a leader for the next one, and for followers
import type { Cooldown, Ticket } from '@muster/matchmaker'
import { type StoredTicket as LoadedTicket, storedTicket } from '@muster/matchmaker/internal'
import { decodeHeader, readStored, type PartitionRecord, type StoredTicket } from './store/index.js'

const COOLDOWN = 'c'
const PAUSE = 'p'
const POOL_PAUSE = 'w'

/** The key of the master secret from which the tokens of game servers are derived. */
export const SECRET_KEY = 's'

/** The key of the random name that a partition gets with its first leader. If it changes, Redis was emptied. */
export const IDENTITY_KEY = 'i'

const RESULT = 'r'
/** Returns the key of a match result that no backend has taken yet. */
export const resultKey = (id: string): string => RESULT + id
/** Returns the results among notes, by their ids, in no order. */
export const resultsIn = (
  notes: readonly PartitionRecord[],
): readonly { readonly key: string; readonly value: string }[] =>
  notes.flatMap(({ key, text }) =>
    key.startsWith(RESULT) && text !== undefined ? [{ key: key.slice(RESULT.length), value: text }] : [],
  )

/** Returns the key of a player's cooldown of a name. */
export const cooldownKey = (name: string, playerId: string): string => COOLDOWN + JSON.stringify([name, playerId])

/** Returns the key of the pause of a queue. */
export const pauseKey = (queue: string): string => PAUSE + queue

/** Returns the key of the pause of a pool. */
export const poolPauseKey = (pool: string): string => POOL_PAUSE + pool

type StoredCooldown = Pick<Cooldown, 'offences' | 'until' | 'forgiveAfterMs'>

export const cooldownText = ({ offences, until, forgiveAfterMs }: StoredCooldown): string =>
  JSON.stringify([offences, until, forgiveAfterMs])

/** Parses a cooldown. @throws Error that quotes nothing of the text if it is not a cooldown. */
export function readCooldown(text: string): StoredCooldown {
  const [offences, until, forgiveAfterMs] = readStored<readonly [number, number, number]>(text, 'cooldown')
  return { offences, until, forgiveAfterMs }
}

/**
 * Returns the content of notes: cooldowns, and the names of paused queues and pools.
 * @param broken receives the error of each damaged note, which is skipped.
 */
export function readPartitionRecords(notes: readonly PartitionRecord[], broken: (error: unknown) => void) {
  const cooldowns: Cooldown[] = []
  const paused: string[] = []
  const pausedPools: string[] = []
  for (const { key, text } of notes) {
    try {
      if (text !== undefined && key.startsWith(COOLDOWN)) {
        const [name, playerId] = readStored<readonly [string, string]>(key.slice(COOLDOWN.length), 'cooldown')
        cooldowns.push({ playerId, name, ...readCooldown(text) })
      } else if (text !== undefined && key.startsWith(PAUSE)) paused.push(key.slice(PAUSE.length))
      else if (text !== undefined && key.startsWith(POOL_PAUSE)) pausedPools.push(key.slice(POOL_PAUSE.length))
    } catch (error) {
      broken(error)
    }
  }
  return { cooldowns, paused, pausedPools }
}

/** Returns the ticket in the form that a leader loads. */
export const loadedOf = ({ id, createdAt, body, header }: StoredTicket): LoadedTicket => ({
  id,
  createdAt,
  body,
  state: header === undefined ? undefined : decodeHeader(header),
})

/** Returns the view of a stored ticket, without addresses. */
export const viewOf = (stored: StoredTicket): Ticket => storedTicket(loadedOf(stored))
