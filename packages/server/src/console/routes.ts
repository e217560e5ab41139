/** The routes of the console's API, as data. The types of the responses come from `@muster/console/internal`. */
import type {
  Applied,
  Audit,
  FoundStories,
  QueueCards,
  ServerList,
  ServerOutput,
  Trial,
} from '@muster/console/internal'
import { idText as id, routesFor } from '@muster/core/internal'
import { z } from 'zod'

const queueKey = z.strictObject({ name: id })
/** Maximum size of a queue's YAML. */
const yaml = z.string().max(50_000)
const idKey = z.strictObject({ id })
/** A response that is not validated again, because this program creates it with the type `T`. */
const answer = <T>() => z.custom<T>()

// --- the routes, by the permission that the caller needs ---
const toSee = routesFor('see', [429, 503])
const onRules = routesFor('rules', [403, 429, 503])
const onPlayers = routesFor('players', [403, 429, 503])
const onServers = routesFor('servers', [403, 429, 503])

export const consoleRoutes = {
  feed: toSee('GET /feed', {
    summary: 'Follow the state of the whole program, twice a second, as server-sent events',
    input: z.strictObject({}),
    output: z.unknown(),
  }),
  find: toSee('GET /find', {
    summary: 'The stories of a player, ticket, match or server',
    input: z.strictObject({ id }),
    output: answer<FoundStories>(),
  }),
  servers: toSee('GET /servers', {
    summary: 'List the servers by place, with age, players and cost',
    input: z.strictObject({}),
    output: answer<ServerList>(),
  }),
  acts: toSee('GET /acts', {
    summary: 'List what operators did, the newest first',
    input: z.strictObject({}),
    output: answer<Audit>(),
  }),
  queues: toSee('GET /queues', {
    summary: 'Describe each queue in sentences',
    input: z.strictObject({}),
    output: answer<QueueCards>(),
  }),
  applyQueue: onRules('PUT /queues/{name}', {
    summary: 'Replace a queue by what an operator wrote',
    input: queueKey.extend({ version: z.int().min(0), yaml }),
    output: answer<Applied>(),
    errors: [409, 422],
  }),
  beginTrial: toSee('POST /trials', {
    summary: 'Start a trial of a changed queue on the tickets of the last hour',
    input: z.strictObject({ queue: id, yaml }),
    output: answer<Trial>(),
    success: [202],
    errors: [404, 409, 422],
  }),
  getTrial: toSee('GET /trials/{id}', {
    summary: 'Read the progress and the result of a trial',
    input: idKey,
    output: answer<Trial>(),
  }),
  cancelTrial: toSee('DELETE /trials/{id}', { summary: 'End a trial', input: idKey }),
  pauseQueue: onRules('POST /queues/{name}/pause', {
    summary: 'Pause a queue: it makes no matches',
    input: queueKey,
  }),
  resumeQueue: onRules('POST /queues/{name}/resume', {
    summary: 'Resume a paused queue',
    input: queueKey,
  }),
  cancelTicket: onPlayers('POST /tickets/{id}/cancel', {
    summary: 'Cancel a ticket',
    input: idKey,
    errors: [409],
  }),
  stopMatch: onPlayers('POST /matches/{id}/stop', {
    summary: 'End a match, and stop its server',
    input: idKey,
  }),
  drainServer: onServers('POST /servers/{id}/drain', {
    summary: 'Drain a server: it takes no more matches and is stopped once its matches are over',
    input: idKey,
  }),
  revokeEnrolment: onServers('POST /enrolments/{key}/revoke', {
    summary: 'Stop all servers that enrolled with a key that the configuration no longer has',
    input: z.strictObject({ key: z.string().regex(/^[\da-f]{8}$/, 'must be 8 hex digits') }),
    errors: [409],
    anyId: true,
  }),
  serverOutput: onServers('GET /servers/{id}/output', {
    summary: 'Read the output of the process of a deployment; in `muster dev` only',
    input: idKey,
    output: answer<ServerOutput>(),
  }),
  killServer: onServers('POST /servers/{id}/kill', {
    summary: 'End the process of a deployment at once (SIGKILL); in `muster dev` only',
    input: idKey,
  }),
  forgive: onPlayers('POST /players/{id}/forgive', {
    summary: 'End the cooldowns of a player, who may queue again at once',
    input: idKey,
    anyId: true,
  }),
  letBotsIn: onPlayers('POST /bots', {
    summary: 'Let a crowd of bots arrive; in `muster dev` only',
    input: z.strictObject({ players: z.int().min(1).max(10_000) }),
    success: [202],
    errors: [404],
  }),
} as const
