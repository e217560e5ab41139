import { Forbidden, InvalidInput, NoCapacity, RateLimited, ServerError, UnexpectedResponse } from '@muster/core'
import type { Random } from '@muster/core/clock'
import { type CallFault, type Fate, lost } from '../service.fixture.js'

export const oneOf = <T>(random: Random, ...values: readonly T[]): T =>
  values[Math.floor(random() * values.length)] as T
export const chance = (random: Random, share: number) => random() < share

/** Returns a random failure of any call except a create. */
export const anyFault = (random: Random): CallFault => ({
  error: oneOf<Error>(
    random,
    lost,
    lost,
    new ServerError('down'),
    new UnexpectedResponse('not JSON'),
    new RateLimited('slower'),
  ),
  effect: chance(random, 0.5),
})
/** Returns a random failure of a create. If its error says that nothing was created, nothing was. */
export const createFault = (random: Random, requestId: string): CallFault =>
  oneOf<CallFault>(
    random,
    { error: lost, effect: true },
    { error: lost },
    { error: new ServerError('down'), effect: chance(random, 0.5) },
    { error: new UnexpectedResponse('not JSON'), effect: true },
    { error: new InvalidInput('no') },
    { error: new Forbidden('no') },
    { error: new NoCapacity('full', { requestId }), effect: true },
    { error: new NoCapacity('full'), effect: chance(random, 0.5) },
  )
/** Returns a random failure of a call to an allocator. If its error says that nothing was created, nothing was. */
export const allocatorFault = (random: Random): CallFault =>
  oneOf<CallFault>(
    random,
    { error: lost, effect: true },
    { error: lost },
    { error: new ServerError('down'), effect: chance(random, 0.5) },
    { error: new UnexpectedResponse('not JSON'), effect: chance(random, 0.5) },
    { error: new RateLimited('slower') },
    { error: new InvalidInput('no') },
    { error: new NoCapacity('full') },
  )
export const anyFate = (random: Random): Fate =>
  oneOf<Fate>(
    random,
    { readyMs: 3000 },
    { readyMs: 500 },
    { readyMs: 9000 },
    { errorMs: 2000 },
    { readyMs: 2000, endMs: 15_000 },
    { endMs: 1000 },
    {},
  )
