import { operation } from '@muster/core/api'
import { z } from 'zod'
import { CooldownsSchema } from './schemas.js'

const id = z.string().min(1).max(128)
const playerKey = z.strictObject({ player_id: id })
const queueKey = z.strictObject({ profile: id })

/** The routes by which an operator's backend acts on queues and players. */
export const operatorRoutes = {
  readCooldown: operation('GET /players/{player_id}/cooldown', {
    summary: 'For how long a player may not wait, having let others down, and what still counts; by a backend',
    input: playerKey,
    output: CooldownsSchema,
    errors: [403, 503],
  }),
  forgive: operation('DELETE /players/{player_id}/cooldown', {
    summary: 'Forget it: the player may wait at once; by a backend',
    input: playerKey,
    errors: [403, 503],
  }),

  pauseQueue: operation('POST /queues/{profile}/pause', {
    summary: 'Make no matches of a profile until it is resumed, by a backend; tickets are taken and wait',
    input: queueKey,
    errors: [403, 503],
  }),
  resumeQueue: operation('POST /queues/{profile}/resume', {
    summary: 'End the pause of a profile, by a backend',
    input: queueKey,
    errors: [403, 503],
  }),
} as const
