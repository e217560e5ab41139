import { predictedWin } from '@muster/matchmaker'
import fc from 'fast-check'
import { predictWin } from 'openskill'
import { expect, test } from 'vitest'

const player = fc.record({
  mu: fc.double({ min: -50, max: 100, noNaN: true }),
  sigma: fc.double({ min: 0.1, max: 10, noNaN: true }),
})
const team = fc.array(player, { minLength: 1, maxLength: 6 })
const beta = fc.option(fc.double({ min: 0.1, max: 500, noNaN: true }), { nil: undefined })
const asRatings = (players: readonly { readonly mu: number; readonly sigma: number }[]) =>
  players.map(({ mu, sigma }) => ({ mean: mu, uncertainty: sigma }))

test('the matchmaker predicts the same win probability as openskill', () => {
  fc.assert(
    fc.property(team, team, beta, (one, other, beta) => {
      const [chance] = predictWin([one, other], beta === undefined ? {} : { beta })
      expect(predictedWin(asRatings(one), asRatings(other), beta)).toBeCloseTo(chance as number, 12)
    }),
  )
})
