// pure: what a leader remembers for the next one, and for followers
import type { Cooldown, Ticket } from '@muster/matchmaker'
import { type StoredTicket as LoadedTicket, storedTicket } from '@muster/matchmaker/internal'
import { decodeHeader, readStored, type Note, type StoredTicket } from './store/index.js'

const COOLDOWN = 'c'
const PAUSE = 'p'
const POOL_PAUSE = 'w'

/** The key of the master secret from which the tokens of game servers are derived. */
export const SECRET_KEY = 's'

/** The key of the random name that a partition gets with its first leader: another name says that Redis was emptied. */
export const IDENTITY_KEY = 'i'

const RESULT = 'r'
/** The key of the result of a match that no backend has taken yet. */
export const resultKey = (id: string): string => RESULT + id
/** The results among notes, by their ids and in no order. */
export const resultsIn = (notes: readonly Note[]): readonly { readonly key: string; readonly value: string }[] =>
  notes.flatMap(({ key, text }) =>
    key.startsWith(RESULT) && text !== undefined ? [{ key: key.slice(RESULT.length), value: text }] : [],
  )

/** The key of a player's cooldown of a name. */
export const cooldownKey = (name: string, playerId: string): string => COOLDOWN + JSON.stringify([name, playerId])

/** The key of the pause of a queue. */
export const pauseKey = (queue: string): string => PAUSE + queue

/** The key of the pause of a pool. */
export const poolPauseKey = (pool: string): string => POOL_PAUSE + pool

type State = Pick<Cooldown, 'offences' | 'until' | 'forgiveAfterMs'>

export const cooldownText = ({ offences, until, forgiveAfterMs }: State): string =>
  JSON.stringify([offences, until, forgiveAfterMs])

/** @throws Error for what is no cooldown, without repeating it. */
export function readCooldown(text: string): State {
  const [offences, until, forgiveAfterMs] = readStored<readonly [number, number, number]>(text, 'cooldown')
  return { offences, until, forgiveAfterMs }
}

/**
 * What notes tell: cooldowns, and the names of queues and pools that are paused.
 * @param broken receives the error of each damaged note, which is skipped.
 */
export function readNotes(notes: readonly Note[], broken: (error: unknown) => void) {
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

/** The ticket as a leader loads it. */
export const loadedOf = ({ id, createdAt, body, header }: StoredTicket): LoadedTicket => ({
  id,
  createdAt,
  body,
  state: header === undefined ? undefined : decodeHeader(header),
})

/** The view of a stored ticket. It holds no address. */
export const viewOf = (stored: StoredTicket): Ticket => storedTicket(loadedOf(stored))
