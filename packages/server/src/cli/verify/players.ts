import { systemClock } from '@muster/core/clock'

/** Milliseconds between two reads of a player's ticket. The API allows 50 reads in 5 s. */
const LOOK_MS = 150
/** Origin for the URLs of requests that are handled within the process. */
const ORIGIN = 'http://127.0.0.1'

export interface JoinableSeat {
  readonly matchId: string
  /** A new join token. */
  readonly token: string
}

interface Mine {
  readonly matches?: readonly { readonly match_id: string; readonly assignment?: Assigned }[]
}
/** A player's assignment: the address at which the player connects, and the join token. */
export interface Assigned {
  readonly join_token?: string
  readonly fqdn?: string
  readonly ports?: Readonly<Record<string, { readonly external: number | null }>>
}
/** Players who wait in a queue, and their assignments. */
export class QueueingPlayers {
  readonly #ask: (request: Request) => Promise<Response>
  readonly #queue: string
  /** The latest known assignment of each player, by player id. */
  readonly #assignments = new Map<string, Assigned>()

  /** @param ask passes a request to Muster @param queue the queue in which all of them wait */
  constructor(ask: (request: Request) => Promise<Response>, queue: string) {
    this.#ask = ask
    this.#queue = queue
  }

  /** Creates tickets for players. @throws {Error} if one is refused */
  async join(players: readonly string[]): Promise<void> {
    for (const player of players) {
      const answer = await this.#call(player, 'POST', '/tickets', { profile: this.#queue })
      if (answer.status !== 201) throw new Error(`creating a ticket for ${player} failed: ${await answer.text()}`)
    }
  }
  /** Returns the player's seat; undefined while the player is in no match, or has no assignment yet. */
  async seat(player: string): Promise<JoinableSeat | undefined> {
    const { match_id: matchId, assignment } = (await this.#matchOf(player)) ?? {}
    if (assignment !== undefined) this.#assignments.set(player, assignment)
    const joinToken = assignment?.join_token
    return matchId === undefined || joinToken === undefined ? undefined : { matchId, token: joinToken }
  }
  /** Waits for the player's seat, for at most `ms` milliseconds. @param isVain returns true to end the wait early */
  async seatWithin(player: string, ms: number, isVain: () => boolean = () => false): Promise<JoinableSeat | undefined> {
    const end = systemClock.now() + ms
    for (;;) {
      const found = await this.seat(player)
      if (found !== undefined || isVain() || systemClock.now() >= end) return found
      await systemClock.sleep(LOOK_MS)
    }
  }
  /**
   * Returns the player's latest known assignment. Reads from Muster only if there is none, because Muster may be cut
   * off.
   */
  async assignmentOf(player: string): Promise<Assigned | undefined> {
    return this.#assignments.get(player) ?? (await this.#matchOf(player))?.assignment
  }

  async #matchOf(player: string) {
    const mine = (await (await this.#call(player, 'GET', '/me')).json()) as Mine
    return mine.matches?.[0]
  }
  #call(player: string, method: string, path: string, body?: object): Promise<Response> {
    const headers = { authorization: `Bearer ${player}`, 'content-type': 'application/json' }
    return this.#ask(new Request(ORIGIN + path, { method, headers, ...(body && { body: JSON.stringify(body) }) }))
  }
}
