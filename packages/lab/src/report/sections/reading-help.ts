// pure: what the figures of a report mean
import { html, type Html } from '../html.js'

const TERMS: readonly (readonly [term: string, meaning: string])[] = [
  [
    'Matched, wait',
    "Players count once for each time they queue. A wait is from the ticket's creation until its match was " +
      'found, of those who were matched; curves count everybody, so that they end at the share matched.',
  ],
  [
    'Difference and interval',
    'All queues meet the same crowds, so the runs of one seed are a pair. An interval holds the difference ' +
      "with 95 % confidence, by bootstrap over the pairs, and is never narrower than Student's. A verdict asks " +
      'for more: all verdicts of a comparison are right together with 95 % (Bonferroni).',
  ],
  [
    'Chance of the stronger team',
    "By the model of openskill: one standard deviation of the crowd's true skill is 25/3 of its units, and " +
      'each player performs at it give or take 25/6. Matches with a single team have no such chance.',
  ],
  [
    'Latency',
    'Round trip to the beacon that is best for the match: of those that all of its players have measured, the ' +
      'one with the least worst latency.',
  ],
  ['Distance', "From each player to the middle of the match, along the earth's surface."],
  [
    'Who pays',
    'The worst served 5 % are those who gave up, expired, were refused or had too many failed servers; if ' +
      'they are fewer, those who waited longest, too. A queue is unfair to regions by 20 % if a fifth of the ' +
      'worst served would have to live elsewhere for every region to bear its part.',
  ],
  [
    'Limits in force',
    "Where each ticket has a limit of its own, that of the player's ticket when it was matched; otherwise " +
      'that of the match, by the wait that the rule names.',
  ],
]

export const readingHelp = (): Html =>
  html`<dl>
    ${TERMS.map(
      ([term, meaning]) =>
        html`<dt>${term}</dt>
          <dd>${meaning}</dd>`,
    )}
  </dl>`
