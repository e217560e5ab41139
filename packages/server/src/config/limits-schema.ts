import { defaultOptions } from '@muster/matchmaker/internal'
import { z } from 'zod'
import {
  attempts,
  count,
  duration,
  flag,
  milliseconds,
  optionalSection,
  orWord,
  section,
  text,
  textLike,
  unboundedOr,
  unlimitedOr,
} from './field-types.js'

// --- limits of spending and of callers ---

export const spending = section({
  maxServers: unlimitedOr()
    .prefault(defaultOptions.maxServers)
    .describe('Maximum number of servers at a time. At the limit, tickets wait. `unlimited` means no limit.'),
  maxStarting: unlimitedOr()
    .prefault(defaultOptions.maxStarting)
    .describe('Maximum number of servers that start at a time.'),
  maxCreatesPerMinute: unlimitedOr()
    .prefault('unlimited')
    .describe('Maximum number of servers requested within any minute, including further attempts for the same match.'),
  maxMatchesPerPlayer: unlimitedOr()
    .prefault(defaultOptions.maxMatchesPerPlayer)
    .describe(
      'Maximum number of matches of one player at a time, waiting or running, in queues that allow several. Once ' +
        'half of `maxServers` exist, each player may have only one, so that a few accounts cannot take all servers.',
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
  currency: textLike(/^[A-Z]{3}$/, 'must be three capital letters, e.g. USD')
    .default('USD')
    .describe('Currency of the price, by its three letters (ISO 4217).'),
}).describe('Limits that bound the cost of a mistake.')

const bodies = optionalSection({
  timeoutMs: duration.optional().describe('Milliseconds in which a body must arrive. Default 10,000.'),
  perAddress: count.optional().describe('Unfinished bodies of one address; one more ends the oldest. Default 64.'),
  inAll: count.optional().describe('Unfinished bodies of all addresses. Default 2,000.'),
}).describe('How long bodies of requests may take, and how many may be unfinished.')

export const limits = section({
  perCaller: attempts
    .optional()
    .describe('Requests of one player. Default 50 per 5 seconds; `unlimited` for no limit.'),
  perAddress: attempts
    .optional()
    .describe('Requests from one IPv4 address or IPv6 /64. Default 250 per 5 seconds; `unlimited` for no limit.'),
  sharedCreates: attempts
    .optional()
    .describe(
      'Tickets and groups that one IPv4 address or IPv6 /64 begins or joins with the token of `auth.shared`. Default ' +
        '60 per 60 seconds; `unlimited` for no limit. Raise it if many players share an address.',
    ),
  waitsPerCaller: count
    .optional()
    .describe('Long polls and event streams that one player may have open; one more ends the oldest. Default 8.'),
  waits: count
    .optional()
    .describe(
      'Long polls and event streams of all players. Default 50,000, for which the process needs as many file ' +
        'descriptors.',
    ),
  delayMs: orWord(duration.min(50), 'unlimited', Infinity, 'milliseconds from 50')
    .prefault(1000)
    .describe(
      'Milliseconds by which answers may be late. As the delay approaches this limit, more and more requests are ' +
        'refused with 503: first creates, then changes, and last reads and cancels. `unlimited` refuses none.',
    ),
  groups: count.optional().describe('Maximum number of groups. Default 100,000.'),
  groupIdleMs: duration
    .optional()
    .describe('Milliseconds for which a group is kept without requests about it. Default 300,000.'),
  bodyBytes: count.optional().describe('Bytes of the largest body. Default 16,384.'),
  backendBodyBytes: count
    .optional()
    .describe('Bytes of the largest body of requests that only backends send. Default 2,097,152.'),
  bodies,
}).describe('Limits of callers of the ticket API.')

export const matching = section({
  tickMs: milliseconds.min(1).default(defaultOptions.tickMs).describe('Milliseconds between two rounds of matching.'),
  tickBudgetMs: duration
    .optional()
    .describe('Milliseconds of work after which a round ends and the next one continues. Default: 15 % of `tickMs`.'),
  readsPerSecond: z
    .number()
    .positive()
    .default(defaultOptions.readsPerSecond)
    .describe('Maximum number of status reads of servers per second.'),
  maxCreatesInFlight: count
    .default(defaultOptions.maxCreatesInFlight)
    .describe('Maximum number of requests for servers in flight.'),
  orphanGraceMs: orWord(milliseconds, 'never', Infinity, 'milliseconds')
    .prefault(defaultOptions.orphanGraceMs)
    .describe(
      'Milliseconds after which a server is stopped that has the tag of this program but belongs to ' +
        'none of its matches. `never` keeps it running.',
    ),
  listLagMs: milliseconds
    .default(defaultOptions.listLagMs)
    .describe("Milliseconds for which a new server can be missing in the service's list."),
  locateTimeoutMs: milliseconds
    .default(defaultOptions.locateTimeoutMs)
    .describe('Milliseconds after which a ticket is matched without waiting longer for its place.'),
  endedTicketTtlMs: milliseconds
    .default(defaultOptions.endedTicketTtlMs)
    .describe('Milliseconds for which a ticket can still be read after it ended.'),
}).describe('Settings of the matchmaker that you rarely need to change.')

// --- lobbies, and the relay sessions that lobbies become ---

const waiting = (words: string, ms: string) => duration.optional().describe(`${words} Default ${ms}.`)
const attemptsOf = (words: string, most: string) => attempts.optional().describe(`${words} Default ${most}.`)

const rules = section({
  awayAfterMs: waiting('Milliseconds of silence after which a member is away.', '30,000'),
  holdSlotMs: waiting('Milliseconds for which a member who is away can have the slot back.', '120,000'),
  emptyMs: waiting('Milliseconds for which a lobby lives in which nobody is present.', '60,000'),
  idleMs: waiting('Milliseconds for which a lobby lives in which nobody does anything.', '600,000'),
  maxLifetimeMs: waiting('Milliseconds for which any lobby lives.', '14,400,000'),
  applicantMs: waiting('Milliseconds for which an applicant waits for the host.', '60,000'),
  leaseMs: waiting('Milliseconds of silence after which another process takes over a run.', '30,000'),
  lingerMs: waiting('Milliseconds for which a closed lobby can still be read.', '30,000'),
}).describe('Times after which lobbies and their members change or end.')

const lobbyLimits = section({
  joinsPerPlayer: attemptsOf('Joins by one player with a wrong code or password.', '10 per minute'),
  joinsPerAddress: attemptsOf('Joins from one address with a wrong code or password.', '30 per minute'),
  joinsOverall: attemptsOf('Joins by all players together with a wrong code or password.', '1,000 per minute'),
  createsPerPlayer: attemptsOf('Lobbies that one player creates.', '10 per minute'),
  lobbiesPerPlayer: unboundedOr().optional().describe('Lobbies that one player is in at a time. Default 5.'),
  sessionsPerPlayer: attemptsOf(
    'Lobby starts, hand-overs and moves of relay sessions by one player.',
    '10 per 10 minutes',
  ),
  sessionsOverall: attemptsOf('Relay sessions that the lobbies of all players cause.', '3,000 per 10 minutes'),
  seatingsPerPlayer: attemptsOf('Times that one player gets a new seat in a running session.', '10 per 5 minutes'),
}).describe('Limits of players in lobbies; `unlimited` for no limit.')

export const lobbies = section({
  enabled: flag(false).describe('Whether the lobby API is served.'),
  startAs: z
    .enum(['relay', 'match'])
    .default('relay')
    .describe('What a lobby becomes when it starts. `relay`: a relay session. `match`: a party in a queue.'),
  queue: text.optional().describe('With `match`, the name of the queue in which the players of a started lobby wait.'),
  rules,
  limits: lobbyLimits,
}).describe('Players who find each other by code or list, and start together.')

export const relay = section({
  readyTimeoutMs: duration.default(45_000).describe('Milliseconds in which a relay session must become ready.'),
  idleMs: orWord(duration, 'never', null, 'milliseconds')
    .prefault(600_000)
    .describe('Milliseconds without any call after which a session is deleted that no lobby has yet, or `never`.'),
  maxLifetimeMs: duration
    .default(14_400_000)
    .describe('Milliseconds after which a session is deleted that no lobby has yet.'),
  sessionsPerHost: unboundedOr()
    .prefault(10)
    .describe('Sessions that may be opened for one player as host at the same time.'),
}).describe(
  'Relay sessions, of lobbies with `startAs: relay`. A session that a lobby has ends with the lobby or its run: ' +
    'see `lobbies.rules` and `lobbies.limits`.',
)
