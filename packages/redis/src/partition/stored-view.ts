// pure: a stored ticket as the matchmaker and everybody else see it
import type { Ticket } from '@muster/matchmaker'
import { storedTicket, type StoredTicket as LoadedTicket } from '@muster/matchmaker/partition'
import { decodeHeader } from './store/header.js'
import type { StoredTicket } from './store/store.js'

/** The ticket as a leader loads it. */
export const loadedOf = ({ id, createdAt, body, header }: StoredTicket): LoadedTicket => ({
  id,
  createdAt,
  body,
  state: header === undefined ? undefined : decodeHeader(header),
})

/** The view of a stored ticket. It holds no address. */
export const viewOf = (stored: StoredTicket): Ticket => storedTicket(loadedOf(stored))
