import type { Clock } from '@muster/core/clock'
import { LeaseLost } from '../partition-errors.js'
import { DEFAULT_BOUNDS, type StoreBounds } from './commit-script.js'
import { readPrefix } from './header.js'
import { MemoryLog } from './memory-log.fixture.js'
import type {
  Acquired,
  CancelOutcome,
  Commit,
  CommitOutcome,
  TicketCreateOutcome,
  InboxEntry,
  StoredQueues,
  NewHeader,
  NewTicket,
  PartitionRecord,
  PlayerTickets,
  HostingChange,
  HostingTransaction,
  StoredHosting,
  StoredBackfill,
  StoredTicket,
  TicketChange,
} from './store.js'

type Written = Extract<HostingChange, { text: string }>

/**
 * A partition in memory: every method is one atomic step of the store. It is written for readability, as the reference
 * for each step; the scripts must behave the same.
 */
export class MemoryPartition {
  readonly #clock: Clock
  readonly #bounds: StoreBounds
  #lives = 0
  tickets = new Map<string, StoredTicket>()
  players = new Map<string, readonly string[]>()
  /** The records of servers and matches, and the tickets that each match locks. */
  hosting = new Map<string, StoredHosting & { readonly locked: readonly string[] }>()
  backfills = new Map<string, StoredBackfill>()
  notes = new Map<string, PartitionRecord>()
  #ended: { readonly at: number; readonly ids: readonly string[] }[] = []
  #lead: { readonly token: string; readonly until: number } | undefined
  #epoch: string | undefined
  #inForce: StoredQueues | undefined
  inbox!: MemoryLog<InboxEntry>
  changes!: MemoryLog<readonly TicketChange[]>
  #replies = new Map<string, MemoryLog<string>>()

  constructor(clock: Clock, bounds: Partial<StoreBounds> = {}) {
    this.#clock = clock
    this.#bounds = { ...DEFAULT_BOUNDS, ...bounds }
    this.#begin()
  }

  /** Loses everything, like FLUSHALL. */
  wipe(): void {
    for (const map of [this.tickets, this.players, this.hosting, this.backfills, this.notes, this.#replies]) map.clear()
    this.#ended = []
    this.#lead = this.#epoch = this.#inForce = undefined
    this.#begin()
  }

  #begin(): void {
    const before = [this.inbox, this.changes]
    this.#lives += 1
    this.inbox = new MemoryLog(`in${this.#lives}`, this.#bounds.inboxEntries)
    this.changes = new MemoryLog(`ev${this.#lives}`, this.#bounds.changeEntries)
    for (const log of before) log?.wake()
  }

  now = (): number => Math.floor(this.#clock.now())

  create(tickets: readonly NewTicket[]): TicketCreateOutcome[] {
    const outcomes = tickets.map((ticket) => this.#createOne(ticket))
    const ticketIds = tickets.filter((_, index) => outcomes[index]?.kind === 'created').map(({ id }) => id)
    if (ticketIds.length > 0) this.inbox.add({ kind: 'created', ticketIds })
    return outcomes
  }

  createTogether(tickets: readonly NewTicket[]): TicketCreateOutcome[] {
    const room = this.#bounds.maxTickets - this.tickets.size
    let fit = 0
    const outcomes = tickets.map((ticket): TicketCreateOutcome => {
      const refused = this.#refusal(ticket)
      if (refused !== undefined) return refused
      fit += 1
      return fit > room ? { kind: 'full' } : { kind: 'withheld' }
    })
    return outcomes.every(({ kind }) => kind === 'withheld') ? this.create(tickets) : outcomes
  }

  #refusal({ id, players, permitted }: NewTicket): TicketCreateOutcome | undefined {
    const known = this.tickets.get(id)
    if (known !== undefined) return { kind: 'exists', ticket: known }
    const busy = players.flatMap((playerId): PlayerTickets[] => {
      const ticketIds = this.players.get(playerId)
      const isFree = ticketIds === undefined || ticketIds.join(' ') === permitted?.get(playerId)?.join(' ')
      return isFree ? [] : [{ playerId, ticketIds }]
    })
    return busy.length > 0 ? { kind: 'busy', players: busy } : undefined
  }

  #createOne(ticket: NewTicket): TicketCreateOutcome {
    const { id, body, players } = ticket
    const refused = this.#refusal(ticket)
    if (refused !== undefined) return refused
    if (this.tickets.size >= this.#bounds.maxTickets) return { kind: 'full' }
    const createdAt = this.now()
    this.tickets.set(id, { id, createdAt, body, header: undefined })
    for (const playerId of players) this.players.set(playerId, [...(this.players.get(playerId) ?? []), id])
    return { kind: 'created', createdAt }
  }

  cancel(ticketId: string, players: readonly string[], by?: string): CancelOutcome {
    const ticket = this.tickets.get(ticketId)
    if (ticket === undefined) return { kind: 'unknown' }
    const { letter, version, matchId } = ticket.header === undefined ? FIRST : readPrefix(ticket.header)
    if (letter === 'C') return { kind: 'cancelled', header: ticket.header as string }
    const isLocked = letter === 'M' && this.hosting.get(`m:${matchId}`)?.locked.includes(ticketId)
    if (letter === 'A' || isLocked === true) return { kind: 'late', header: ticket.header as string }
    const place = matchId === undefined ? '' : ` ${matchId}`
    const rest = JSON.parse(ticket.header?.split('\n')[1] ?? '{}') as object
    const now = { ...rest, cancelledAt: this.now(), cancelReason: 'cancelled' }
    const header = `C${version + 1}${place}\n${JSON.stringify(now)}`
    this.tickets.set(ticketId, { ...ticket, header })
    this.#free(ticketId, players)
    this.#ended.push({ at: this.now(), ids: [ticketId] })
    this.inbox.add({ kind: 'cancelled', ticketId, ...(letter === 'M' && by !== undefined && { by }) })
    this.changes.add([{ ticketId, letter: 'C', version: version + 1 }])
    return { kind: 'cancelled', header }
  }

  #free(ticketId: string, players: readonly string[]): void {
    for (const playerId of players) {
      const left = (this.players.get(playerId) ?? []).filter((id) => id !== ticketId)
      if (left.length > 0) this.players.set(playerId, left)
      else this.players.delete(playerId)
    }
  }

  acquire(owner: string, leaseMs: number): Acquired {
    const now = this.#clock.now()
    const lead = this.#lead !== undefined && this.#lead.until > now ? this.#lead : undefined
    const holder = lead?.token.slice(lead.token.indexOf(':') + 1)
    if (lead !== undefined && holder !== owner)
      return { kind: 'held', owner: holder as string, forMs: Math.ceil(lead.until - now) }
    if (lead === undefined)
      this.#epoch = `${this.#epoch === undefined ? this.now() : Number.parseInt(this.#epoch, 10) + 1}:${owner}`
    const token = this.#epoch as string
    this.#lead = { token, until: now + leaseMs }
    return { kind: 'acquired', token }
  }

  renew(token: string, leaseMs: number): boolean {
    if (this.#epoch !== token) return false
    this.#lead = { token, until: this.#clock.now() + leaseMs }
    return true
  }

  release(token: string): void {
    if (this.#lead?.token === token) this.#lead = undefined
  }

  fence(token: string): void {
    if (this.#epoch !== token) throw new LeaseLost('memory')
  }

  repliesTo(follower: string): MemoryLog<string> {
    const known = this.#replies.get(follower)
    const replies = known ?? new MemoryLog(`r${this.#lives}`, this.#bounds.replyEntries)
    if (known === undefined) this.#replies.set(follower, replies)
    return replies
  }

  /** Applies one part of a commit: see `partsOf`. */
  commit(token: string, commit: Commit): CommitOutcome {
    const { headers = [], left = [], hosting = [], backfills = [], notes = [], replies = [] } = commit
    this.fence(token)
    const refused = headers.filter((header) => !this.#write(header)).map(({ ticketId }) => ticketId)
    const written = headers.filter(({ ticketId }) => !refused.includes(ticketId))
    if (written.length > 0) this.changes.add(written.map(({ ticketId, header }) => ({ ticketId, ...prefixOf(header) })))
    for (const { ticketId, players } of left) this.#free(ticketId, players)
    const unmet = hosting.flatMap((transaction) => this.#transact(transaction))
    for (const { backfillId, text } of backfills) {
      if (text === undefined) this.backfills.delete(backfillId)
      else this.backfills.set(backfillId, { backfillId, text })
    }
    for (const note of notes) {
      if (note.text === undefined) this.notes.delete(note.key)
      else this.notes.set(note.key, note)
    }
    for (const { follower, text } of replies) this.repliesTo(follower).add(text)
    if (replies.length > 0) this.changes.wake()
    return { refused: refused.map((ticketId) => ({ ticketId, header: this.tickets.get(ticketId)?.header })), unmet }
  }

  #write({ ticketId, header, frees = [], ended }: NewHeader): boolean {
    const ticket = this.tickets.get(ticketId)
    if (ticket === undefined) return false
    const next = readPrefix(header)
    if (ticket.header !== header) {
      const present = ticket.header === undefined ? FIRST : readPrefix(ticket.header)
      if (present.letter === 'C' || present.version >= next.version) return false
      this.tickets.set(ticketId, { ...ticket, header })
      if (ended ?? next.letter === 'C') this.#ended.push({ at: this.now(), ids: [ticketId] })
    }
    this.#free(ticketId, frees)
    return true
  }

  #transact(transaction: HostingTransaction): CommitOutcome['unmet'] {
    const unmet = transaction.flatMap((change) => this.#unmetOf(change))
    if (unmet.length > 0) return unmet
    for (const change of transaction) this.#record(change)
    return []
  }

  #unmetOf(change: HostingChange): CommitOutcome['unmet'] {
    if (change.text === undefined) return []
    const { key, text, requires = [] } = change
    const matchId = key.slice(2)
    const known = this.hosting.get(key)
    const missing = requires.filter((id) => !this.#isIn(id, matchId, 'MA'))
    const isDone = known?.text === text && known.locked.join(' ') === this.#lockedBy(change).join(' ')
    return missing.length === 0 || isDone ? [] : [{ matchId, ticketIds: missing }]
  }

  #lockedBy({ key, requires = [], locks = false }: Written): readonly string[] {
    if (requires.length === 0) return this.hosting.get(key)?.locked ?? []
    return locks ? requires : []
  }

  #record(change: HostingChange): void {
    const { key } = change
    const matchId = key.slice(2)
    if (change.text !== undefined) {
      this.hosting.set(key, { key, text: change.text, locked: this.#lockedBy(change) })
      return
    }
    if (!this.hosting.delete(key)) return
    const ended = (change.ends ?? []).filter(({ ticketId }) => this.#isIn(ticketId, matchId, 'A'))
    for (const { ticketId, players } of ended) this.#free(ticketId, players)
    if (ended.length > 0) this.#ended.push({ at: this.now(), ids: ended.map(({ ticketId }) => ticketId) })
  }

  #isIn(ticketId: string, matchId: string, letters: string): boolean {
    const header = this.tickets.get(ticketId)?.header
    if (header === undefined) return false
    const prefix = readPrefix(header)
    return letters.includes(prefix.letter) && prefix.matchId === matchId
  }

  sweep(token: string, olderThanMs: number, most: number): number {
    this.fence(token)
    let swept = 0
    for (let first = this.#ended[0]; first !== undefined && swept < most; first = this.#ended[0]) {
      if (first.at > this.now() - olderThanMs) break
      this.#ended.shift()
      for (const id of first.ids) this.tickets.delete(id)
      swept += first.ids.length
    }
    return swept
  }

  setInForce(token: string, text: string): StoredQueues {
    this.fence(token)
    if (this.#inForce?.text !== text) this.#inForce = { text, since: this.now() }
    return this.#inForce as StoredQueues
  }

  inForce = (): StoredQueues | undefined => this.#inForce
}

const FIRST = { letter: 'S', version: 1, matchId: undefined } as const

const prefixOf = (header: string): Omit<TicketChange, 'ticketId'> => {
  const { letter, version } = readPrefix(header)
  return { letter, version }
}
