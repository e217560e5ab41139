import fc from 'fast-check'
import { checkQueue, type QueueDefinition } from '../queue.js'
import { ruleOf, kinds } from './rule-arbitraries.fixture.js'
import { wait } from './value-arbitraries.fixture.js'

/** The exports of `@muster/matchmaker/rules-oracle` for tests of other packages: a judge of matches and its inputs. */
export { queues, tickets } from './arbitraries.fixture.js'
export type { RuleTicket } from '../rule-parts/rule-types.js'
export { brokenRules, wrongSizes } from './oracle.fixture.js'
export type { JudgedTeam } from './oracle-limits.fixture.js'
export { kinds } from './rule-arbitraries.fixture.js'
export { allMatch } from './scene.fixture.js'

/** Queues whose matches have two players, in one team or in two, with up to three rules of every kind. */
export const pairQueues: fc.Arbitrary<QueueDefinition> = fc
  .record({
    name: fc.constant('queue'),
    teams: fc.constantFrom([{ name: 'team', size: 2 }], [{ name: 'team', count: 2, size: 1 }]),
    rules: fc
      .array(
        fc.constantFrom(...kinds).chain((kind) => ruleOf(kind, ['team'])),
        { minLength: 1, maxLength: 3 },
      )
      .map((rules) => rules.map((rule, index) => ({ ...rule, name: `rule ${index}` }))),
    fillForMs: wait,
    lastResortMs: fc.option(wait, { nil: undefined, freq: 2 }),
    deploy: fc.constant({ application: 'game', version: '1' }),
  })
  .filter((queue) => checkQueue(queue).queue !== undefined)
