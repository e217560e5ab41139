/** The routes of the console's API, as data. The answers' types are those of `@muster/console/internal`. */
import type {
  Applied,
  Audit,
  Found,
  Permission,
  QueueCards,
  ServerList,
  ServerOutput,
  Trial,
} from '@muster/console/internal'
import { operation } from '@muster/core/api'
import { z } from 'zod'

/** Ids of players are a game's own; the matchmaker takes up to 128 characters. */
const id = z.string().min(1).max(128)
const queueKey = z.strictObject({ name: z.string().min(1).max(128) })
/** A queue with as much text as anybody writes. */
const yaml = z.string().max(50_000)
const idKey = z.strictObject({ id })
/** The answers are made here and typed by the wire, so they are not checked again. */
const answer = <T>() => z.custom<T>()

export const consoleRoutes = {
  feed: operation('GET /feed', {
    summary: 'The state of everything, twice a second, as server-sent events',
    input: z.strictObject({}),
    output: z.unknown(),
    errors: [429, 503],
  }),
  find: operation('GET /find', {
    summary: 'The stories of a player, ticket, match or server',
    input: z.strictObject({ id }),
    output: answer<Found>(),
    errors: [429, 503],
  }),
  servers: operation('GET /servers', {
    summary: 'The servers there are, by place, with age, players and cost',
    input: z.strictObject({}),
    output: answer<ServerList>(),
    errors: [429, 503],
  }),
  acts: operation('GET /acts', {
    summary: 'What operators did, the newest first',
    input: z.strictObject({}),
    output: answer<Audit>(),
    errors: [],
  }),
  queues: operation('GET /queues', {
    summary: 'What each queue means',
    input: z.strictObject({}),
    output: answer<QueueCards>(),
    errors: [],
  }),
  applyQueue: operation('PUT /queues/{name}', {
    summary: 'Replace a queue by what an operator wrote',
    input: queueKey.extend({ version: z.int().min(0), yaml }),
    output: answer<Applied>(),
    errors: [403, 404, 409, 422, 429],
  }),
  beginTrial: operation('POST /trials', {
    summary: 'Begin to try a changed queue on the tickets of the last hour',
    input: z.strictObject({ queue: z.string().min(1).max(128), yaml }),
    output: answer<Trial>(),
    success: [202],
    errors: [404, 409, 422, 429],
  }),
  getTrial: operation('GET /trials/{id}', {
    summary: 'How far a trial is, and its result',
    input: idKey,
    output: answer<Trial>(),
    errors: [404],
  }),
  cancelTrial: operation('DELETE /trials/{id}', { summary: 'End a trial', input: idKey, errors: [404] }),
  pauseQueue: operation('POST /queues/{name}/pause', {
    summary: 'Make no matches of a queue for now',
    input: queueKey,
    errors: [403, 404, 503],
  }),
  resumeQueue: operation('POST /queues/{name}/resume', {
    summary: 'Make matches of a queue again',
    input: queueKey,
    errors: [403, 404, 503],
  }),
  cancelTicket: operation('POST /tickets/{id}/cancel', {
    summary: 'Cancel a ticket',
    input: idKey,
    errors: [403, 404, 409, 503],
  }),
  stopMatch: operation('POST /matches/{id}/stop', {
    summary: 'End a match, and stop its server',
    input: idKey,
    errors: [403, 404, 503],
  }),
  drainServer: operation('POST /servers/{id}/drain', {
    summary: 'Let a server take no match any more; it is stopped once its matches are over',
    input: idKey,
    errors: [403, 404, 503],
  }),
  revokeEnrolment: operation('POST /enrolments/{key}/revoke', {
    summary: 'Stop all servers that came with a key that is not in the configuration any more',
    input: z.strictObject({ key: z.string().regex(/^[\da-f]{8}$/, 'must be 8 hex digits') }),
    errors: [403, 409, 503],
  }),
  serverOutput: operation('GET /servers/{id}/output', {
    summary: 'What the process of a deployment has written; in `muster dev` only',
    input: idKey,
    output: answer<ServerOutput>(),
    errors: [403, 404],
  }),
  killServer: operation('POST /servers/{id}/kill', {
    summary: 'End the process of a deployment at once (SIGKILL); in `muster dev` only',
    input: idKey,
    errors: [403, 404],
  }),
  forgive: operation('POST /players/{id}/forgive', {
    summary: 'Forget the cooldowns of a player, who may wait again at once',
    input: idKey,
    errors: [403, 503],
  }),
  letBotsIn: operation('POST /bots', {
    summary: 'Let a crowd of bots arrive; in `muster dev` only',
    input: z.strictObject({ players: z.int().min(1).max(10_000) }),
    success: [202],
    errors: [403, 404],
  }),
} as const

/** What each route takes. */
export const permissionOf: Readonly<Record<keyof typeof consoleRoutes, Permission>> = {
  feed: 'see',
  find: 'see',
  servers: 'see',
  acts: 'see',
  queues: 'see',
  beginTrial: 'see',
  getTrial: 'see',
  cancelTrial: 'see',
  applyQueue: 'rules',
  pauseQueue: 'rules',
  resumeQueue: 'rules',
  cancelTicket: 'players',
  stopMatch: 'players',
  drainServer: 'servers',
  revokeEnrolment: 'servers',
  serverOutput: 'servers',
  killServer: 'servers',
  forgive: 'players',
  letBotsIn: 'players',
}
