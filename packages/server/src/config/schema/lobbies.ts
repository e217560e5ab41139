import { z } from 'zod'
import { attempts, count, duration, text } from './parts.js'

/** Sections about lobbies, and about the relay sessions that they become. */

const waiting = (words: string, ms: string) => duration.optional().describe(`${words} Default ${ms}.`)
const attemptsOf = (words: string, most: string) => attempts.optional().describe(`${words} Default ${most}.`)

const rules = z
  .strictObject({
    awayAfterMs: waiting('Milliseconds of silence after which a member is away.', '30,000'),
    holdSlotMs: waiting('Milliseconds for which a member who is away can have the slot back.', '120,000'),
    emptyMs: waiting('Milliseconds for which a lobby lives in which nobody is present.', '60,000'),
    idleMs: waiting('Milliseconds for which a lobby lives in which nobody does anything.', '600,000'),
    maxLifetimeMs: waiting('Milliseconds for which any lobby lives.', '14,400,000'),
    applicantMs: waiting('Milliseconds for which an applicant waits for the host.', '60,000'),
    leaseMs: waiting('Milliseconds of silence after which another process takes over a run.', '30,000'),
    lingerMs: waiting('Milliseconds for which a closed lobby can still be read.', '30,000'),
  })
  .prefault({})
  .describe('How long things last in a lobby.')

const limits = z
  .strictObject({
    joinsPerPlayer: attemptsOf('Wrong codes and passwords of one player.', '10 per minute'),
    joinsPerAddress: attemptsOf('Wrong codes and passwords from one address.', '30 per minute'),
    joinsOverall: attemptsOf('Wrong codes and passwords of all players.', '1,000 per minute'),
    createsPerPlayer: attemptsOf('Lobbies that one player creates.', '10 per minute'),
    lobbiesPerPlayer: z
      .union([count, z.literal('unlimited')], { error: 'must be a whole number from 1, or unlimited' })
      .transform((given) => (given === 'unlimited' ? null : given))
      .optional()
      .describe('Lobbies that one player is in at once. Default 5.'),
    sessionsPerPlayer: attemptsOf('Starts that one player causes.', '10 per 10 minutes'),
    seatingsPerPlayer: attemptsOf('Times that one player is seated in a running session.', '10 per 5 minutes'),
  })
  .prefault({})
  .describe('How much players may do with lobbies; `unlimited` for no limit.')

export const lobbies = z
  .strictObject({
    enabled: z.boolean().default(false).describe('Whether the lobby API is served.'),
    startAs: z
      .enum(['relay', 'match'])
      .default('relay')
      .describe('What a lobby becomes when it starts. `relay`: a relay session. `match`: a party in a queue.'),
    queue: text.optional().describe('Name of the queue that the players of a started lobby wait in, with `match`.'),
    rules,
    limits,
  })
  .prefault({})
  .describe('Players who find each other by code or list, and start together.')

export const relay = z
  .strictObject({
    readyTimeoutMs: duration.default(45_000).describe('Milliseconds in which a relay session must become ready.'),
    idleMs: z
      .union([duration, z.literal('never')], { error: 'must be milliseconds, or never' })
      .transform((given) => (given === 'never' ? null : given))
      .prefault(600_000)
      .describe('Milliseconds without any sign of use after which a session is deleted, or `never`.'),
    maxLifetimeMs: duration.default(14_400_000).describe('Milliseconds after which a session is deleted in any case.'),
    sessionsPerHost: z
      .union([count, z.literal('unlimited')], { error: 'must be a whole number from 1, or unlimited' })
      .transform((given) => (given === 'unlimited' ? null : given))
      .prefault(10)
      .describe('Sessions that one player may host at once.'),
  })
  .prefault({})
  .describe('Relay sessions, of lobbies with `startAs: relay`.')
