import type { Money } from '@muster/console/wire'
import type { ConsoleSpending } from '../options.js'

/** What servers cost, by their number and a price. */
export interface Bill {
  /** Notes how many servers there are now. */
  note(servers: number, now: number): void
  /** Null where no price is stated. */
  now(servers: number, spending: ConsoleSpending): Money | null
}

const HOUR_MS = 3_600_000
/** The hour is counted in pieces of this length. */
const PIECE_MS = 10_000

export function createBill(since: number): Bill {
  /** Milliseconds of servers in each piece of the last hour. */
  const pieces = new Float64Array(HOUR_MS / PIECE_MS)
  let latestPiece = Math.floor(since / PIECE_MS)
  let notedAt = since
  let noted = 0

  const pass = (piece: number) => {
    const first = Math.max(latestPiece + 1, piece - pieces.length + 1)
    for (let passed = first; passed <= piece; passed += 1) pieces[passed % pieces.length] = 0
    latestPiece = Math.max(latestPiece, piece)
  }

  return {
    note: (servers, now) => {
      const piece = Math.floor(now / PIECE_MS)
      pass(piece)
      // Between two notes there were as many as at the first of them.
      pieces[piece % pieces.length] = (pieces[piece % pieces.length] as number) + noted * Math.max(0, now - notedAt)
      notedAt = now
      noted = servers
    },
    now: (servers, { pricePerMinute, currency = '' }) => {
      if (pricePerMinute === undefined) return null
      const serverMs = pieces.reduce((sum, piece) => sum + piece, 0)
      return {
        currency,
        pricePerMinute,
        perHourNow: rounded(servers * pricePerMinute * 60),
        lastHour: rounded((serverMs / 60_000) * pricePerMinute),
        since: Math.floor(Math.max(since, notedAt - HOUR_MS)),
      }
    },
  }
}

const rounded = (amount: number) => Math.round(amount * 10_000) / 10_000
