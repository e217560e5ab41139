import type { Arrival } from './crowd.js'

export const playersIn = (tickets: readonly { readonly players: readonly unknown[] }[]): number =>
  tickets.reduce((sum, { players }) => sum + players.length, 0)

/** Returns the number of players who come to a queue. */
export const playersTo = (queue: string, arrivals: readonly Arrival[]): number =>
  playersIn(arrivals.flatMap(({ ticket }) => (ticket.queue === queue ? [ticket] : [])))
