// pure: how tickets are stored
import type { StoredTicket } from '../store.js'

/** A ticket of its two values: `<createdAt> <body>`, and its header. */
export function storedTicket(id: string, value: string, header: string | null): StoredTicket {
  const end = value.indexOf(' ')
  return { id, createdAt: Number(value.slice(0, end)), body: value.slice(end + 1), header: header ?? undefined }
}
