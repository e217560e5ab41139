import { defineQueue } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import type { Measured } from './promises.js'
import { sentencesOf } from './tuned-sentences.js'
import type { Tested, Tuned } from './tuning-result.js'

const runs = (...costs: readonly number[]) => costs.map((cost) => ({ cost, waitP90Ms: 28_000, gaveUp: 0.04 }))
const tested = (training: readonly Measured[], unseen: readonly Measured[]): Tested<Measured> => ({ training, unseen })

const base: Tuned<Measured> = {
  promises: { waitP90Ms: 30_000, gaveUp: 0.05 },
  trainingSeeds: [1, 2, 3],
  unseenSeeds: [4, 5, 6, 7, 8],
  changes: [],
  leftAlone: [],
  queue: defineQueue({ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }),
  possible: true,
  ownIsBest: false,
  own: tested(runs(2, 2.02, 1.98), runs(2, 2.01, 1.99, 2.02, 1.98)),
  best: tested(runs(1.6, 1.62, 1.58), runs(1.61, 1.62, 1.6, 1.63, 1.6)),
  loosest: runs(5, 5, 5),
  front: [],
  tried: 20,
  runs: 180,
}
const KEPT =
  'It keeps the promises on 5 of 5 unseen seeds, and on average: 90 % of the matched find their match within 28 s ' +
  '(promised 30 s), and 4.0 % wait in vain (promised 5.0 %).'

describe('the sentences of a search', () => {
  test('the sentences of a search say how much better a schedule is, and that this is not by chance', () => {
    expect(sentencesOf(base)).toEqual([
      KEPT,
      'Its matches cost 1.61 instead of 2, −19.4 % (95 % sure: −19.7 % to −19.1 %).',
      'On the training seeds it was −20.0 %, on the unseen −19.4 %: the gain holds for other seeds too.',
    ])
  })

  test('if the rules of the file exceed a limit, the report of a search says what keeping the limit costs', () => {
    const slow = (all: readonly Measured[]) => all.map((run) => ({ ...run, waitP90Ms: 45_000, cost: 1 }))
    const own = tested(slow(base.own.training), slow(base.own.unseen))
    const [, cost] = sentencesOf({ ...base, own })
    expect(cost).toMatch(/^Its matches cost 1\.61 instead of 1, \+61\.2 % \(95 % sure: .*\); the file's own schedule/)
    expect(cost).toMatch(/breaks the promises: 90 % of the matched .* within 45 s instead of 30 s, 50\.0 % too much\.$/)
  })

  test('the sentences of a search say if a gain is lost on unseen seeds, and what may be due to chance', () => {
    const best = tested(base.best.training, runs(2.1, 1.9, 2.05, 1.9, 2))
    const sentences = sentencesOf({ ...base, best })
    expect(sentences[1]).toContain('and the data cannot tell whether that is more than chance (95 % sure: ')
    expect(sentences[2]).toContain('it fits the training seeds rather than the queue')
    const half = tested(base.best.training, runs(1.75, 1.76, 1.74, 1.77, 1.73))
    expect(sentencesOf({ ...base, best: half })[2]).toContain(
      'on the unseen −12.5 %: a part of the gain holds for the training seeds only.',
    )
    const [, single] = sentencesOf({ ...base, own: tested(runs(2), runs(2)), best: tested(runs(1), runs(1)) })
    expect(single).toBe('Its matches cost 1 instead of 2, and the data cannot tell whether that is more than chance.')
  })

  test('the sentences of a search say that a promise is broken on average of the unseen seeds', () => {
    const unseen = base.best.unseen.map((run, seed) => ({ ...run, gaveUp: seed < 2 ? 0.04 : 0.07 }))
    expect(sentencesOf({ ...base, best: tested(base.best.training, unseen) }).slice(0, 2)).toEqual([
      'It keeps the promises on the training seeds, but not on average of the unseen: ' +
        '5.8 % wait in vain instead of 5.0 %, 16.0 % too much.',
      'It keeps them on 2 of 5 unseen seeds: promise a little more than you need, or train on more seeds.',
    ])
  })

  test('the sentences of a search say that no schedule can keep the promises', () => {
    const late = base.best.training.map((run) => ({ ...run, waitP90Ms: 33_000 }))
    expect(sentencesOf({ ...base, possible: false, best: tested(late, base.best.unseen) })).toEqual([
      'No schedule keeps the promises: of 20 that ran with all training seeds, even the best one breaks them.',
      'With it, 90 % of the matched find their match within 33 s instead of 30 s, 10.0 % too much ' +
        '(worst training seed).',
      'With every limit at its loosest from the start on, ' +
        '90 % of the matched find their match within 28 s, and 4.0 % wait in vain.',
    ])
  })

  test('the sentences of a search say that nothing should change', () => {
    expect(sentencesOf({ ...base, ownIsBest: true, best: base.own })).toEqual([
      "The file's own schedule is the best that was found: nothing should change.",
      KEPT,
    ])
  })
})
