import { InvalidInput } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { z } from 'zod'
import type { Events } from '../events.js'
import { read } from '@muster/core/validation'
import type { Cooldown, Cooldowns } from '../tickets/cooldowns.js'
import type { Matchmaker } from './matchmaker.js'

const schema: z.ZodType<readonly Cooldown[]> = z.array(
  z.strictObject({
    playerId: z.string().min(1).max(128),
    name: z.string().min(1).max(64),
    offences: z.int().min(1),
    until: z.number().min(0),
    forgiveAfterMs: z.number().positive(),
  }),
)

export interface CooldownCommandsOptions {
  readonly cooldowns: Cooldowns
  readonly events: Pick<Events, 'emit'>
  readonly clock: Pick<Clock, 'now'>
}

/** Creates the commands of backends about players who may not wait for a while. */
export const createCooldownCommands = ({
  cooldowns,
  events,
  clock,
}: CooldownCommandsOptions): Pick<Matchmaker, 'cooldownsOf' | 'forgive' | 'exportCooldowns' | 'importCooldowns'> => ({
  cooldownsOf: (playerId) => cooldowns.of(playerId, clock.now()),
  forgive: (playerId) => {
    if (cooldowns.forgive(playerId, clock.now())) events.emit('cooldownForgiven', { playerId })
  },
  exportCooldowns: () => cooldowns.all(clock.now()),
  importCooldowns: (given) => {
    const checked = read(schema, given, (field, message) => new InvalidInput(`cooldowns: ${message}`, { field }))
    cooldowns.load(checked, clock.now())
  },
})
