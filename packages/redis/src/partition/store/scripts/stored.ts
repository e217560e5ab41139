// pure: how tickets and records are stored
import type { StoredRecord, StoredTicket } from '../store.js'

/** A ticket of its two values: `<createdAt> <body>`, and its header. */
export function storedTicket(id: string, value: string, header: string | null): StoredTicket {
  const end = value.indexOf(' ')
  return { id, createdAt: Number(value.slice(0, end)), body: value.slice(end + 1), header: header ?? undefined }
}

/** A record of its value: the ids of locked tickets in the first line, space between, and the text. */
export function storedRecord(matchId: string, value: string): StoredRecord {
  const end = value.indexOf('\n')
  return { matchId, text: value.slice(end + 1), locked: end === 0 ? [] : value.slice(0, end).split(' ') }
}
