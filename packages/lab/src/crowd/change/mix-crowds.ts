import { InvalidInput } from '@muster/core'
import type { Crowd } from '../crowd.js'
import { idWith, inOrder, withIds } from './copies.js'

/**
 * Lets several crowds come together: each from its own start on, the first one's start being that of all. Nobody is in
 * two of them: ids begin with the crowd's number, as in `2.player-7`.
 * @throws {InvalidInput} without a crowd
 */
export function mixCrowds(...crowds: readonly Crowd[]): Crowd {
  const [first] = crowds
  if (first === undefined) throw new InvalidInput('crowds: must be at least one', { field: 'crowds' })
  if (crowds.length === 1) return first
  const parties = crowds.flatMap((crowd, index) =>
    crowd.parties.map((party) => withIds(party, (id) => idWith(id, `${index + 1}.`, ''))),
  )
  const durationMs = Math.max(...crowds.map(({ header }) => header.durationMs))
  return {
    header: { format: first.header.format, startsAt: first.header.startsAt, durationMs },
    parties: inOrder(parties),
  }
}
