import { defaultOptions } from '@muster/matchmaker'
import { z } from 'zod'
import { attempts, count, duration, milliseconds, unlimitedOr } from './parts.js'

/** Sections about bounds: what is spent, and how much callers may do. */

export const spending = z
  .strictObject({
    maxServers: unlimitedOr()
      .prefault(defaultOptions.maxServers)
      .describe('Servers that may exist at once. Tickets wait at the limit. `unlimited` for no bound.'),
    maxStarting: unlimitedOr().prefault(defaultOptions.maxStarting).describe('Servers that may be starting at once.'),
    maxCreatesPerMinute: unlimitedOr()
      .prefault('unlimited')
      .describe('Servers requested within any minute, with further attempts for the same match.'),
    maxMatchesPerPlayer: unlimitedOr()
      .prefault(defaultOptions.maxMatchesPerPlayer)
      .describe(
        'Matches that a player may wait for and play in at once, in queues that allow several. One from when half of ' +
          '`maxServers` exist, so that few accounts cannot take all.',
      ),
    maxServersPerPlayer: unlimitedOr()
      .prefault(defaultOptions.maxServersPerPlayer)
      .describe('Servers that may be requested for matches of one player within an hour.'),
    pricePerMinute: z
      .number()
      .min(0)
      .max(1_000_000)
      .optional()
      .describe('Price of a server per minute, by which the console shows the money spent. Default: none is shown.'),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be three capital letters, e.g. USD')
      .default('USD')
      .describe('Currency of the price, by its three letters (ISO 4217).'),
  })
  .prefault({})
  .describe('Bounds of what a mistake can cost.')

const bodies = z
  .strictObject({
    timeoutMs: duration.optional().describe('Milliseconds in which a body must arrive. Default 10,000.'),
    perAddress: count.optional().describe('Unfinished bodies of one address; one more ends the oldest. Default 64.'),
    inAll: count.optional().describe('Unfinished bodies of all addresses. Default 2,000.'),
  })
  .optional()
  .describe('How long bodies of requests may take, and how many may be unfinished.')

export const limits = z
  .strictObject({
    perCaller: attempts
      .optional()
      .describe('Requests of one player. Default 50 per 5 seconds; `unlimited` for no limit.'),
    perAddress: attempts
      .optional()
      .describe('Requests from one IPv4 address or IPv6 /64. Default 250 per 5 seconds; `unlimited` for no limit.'),
    waitsPerCaller: count
      .optional()
      .describe('Long polls and event streams that one player may have open; one more ends the oldest. Default 8.'),
    waits: count
      .optional()
      .describe(
        'Long polls and event streams of all players. Default 50,000, for which the process needs as many file ' +
          'descriptors.',
      ),
    delayMs: z
      .union([duration.min(50), z.literal('unlimited')], { error: 'must be milliseconds from 50, or unlimited' })
      .transform((given) => (given === 'unlimited' ? Infinity : given))
      .prefault(1000)
      .describe(
        'Milliseconds by which answers may be late. As the program comes near to it, requests are refused with 503: ' +
          'first those that begin something, then changes, reads and cancels last. `unlimited` refuses none.',
      ),
    groups: count.optional().describe('Groups at once. Default 100,000.'),
    groupIdleMs: duration
      .optional()
      .describe('Milliseconds for which a group is kept without requests about it. Default 300,000.'),
    bodyBytes: count.optional().describe('Bytes of the largest body. Default 16,384.'),
    backendBodyBytes: count
      .optional()
      .describe('Bytes of the largest body of requests that only backends send. Default 2,097,152.'),
    bodies,
  })
  .prefault({})
  .describe('How much the callers of the ticket API may do.')

export const matching = z
  .strictObject({
    tickMs: milliseconds.min(1).default(defaultOptions.tickMs).describe('Milliseconds between two rounds of matching.'),
    tickBudgetMs: duration
      .optional()
      .describe('Milliseconds of work after which a round leaves the rest to the next one. Default: 15 % of `tickMs`.'),
    readsPerSecond: z
      .number()
      .positive()
      .default(defaultOptions.readsPerSecond)
      .describe('Status reads of servers per second at most.'),
    maxCreatesInFlight: count
      .default(defaultOptions.maxCreatesInFlight)
      .describe('Requests for servers whose answer is awaited at once.'),
    reapAfterMs: z
      .union([milliseconds, z.literal('never')], { error: 'must be milliseconds, or never' })
      .transform((given) => (given === 'never' ? Infinity : given))
      .prefault(defaultOptions.reapAfterMs)
      .describe(
        'Milliseconds for which a server is spared that has the tag of this program but belongs to none of its ' +
          'matches; then it is stopped. `never` spares it for ever.',
      ),
    listLagMs: milliseconds
      .default(defaultOptions.listLagMs)
      .describe("Milliseconds for which the service's list may not show a new server."),
    locateTimeoutMs: milliseconds
      .default(defaultOptions.locateTimeoutMs)
      .describe('Milliseconds after which a ticket is matched without waiting longer for its place.'),
    keepEndedMs: milliseconds
      .default(defaultOptions.keepEndedMs)
      .describe('Milliseconds for which a ticket can still be read after it ended.'),
  })
  .prefault({})
  .describe('Settings of the matchmaker that few need to change.')
