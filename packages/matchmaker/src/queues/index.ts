/** A queue: its definition and checks, its rules compiled for the kernel, its description and explanations. */
export { type CompiledQueue, compileQueue } from './compile.js'
export { type CooldownState, forgottenAt, type Offence, offencesLeft, offend } from './cooldown-terms.js'
export { createExplain, type Explain, type Explanation, PAUSED } from './explain.js'
export { relaxationSentence } from './next-relaxation.js'
export {
  defineQueue,
  type PlayerMayState,
  playerMayState,
  type Queue,
  type QueueDefinition,
  readsLatencies,
} from './queue.js'
export { withPool } from './queue-pool.js'
export { largestMatch } from './validate-queue.js'
export type { Facts, RulePlayer, RuleTicket } from './rule-parts/rule-types.js'
export { bestBeacons } from './rules/best-beacons.js'
export type { Rule } from './rules/definition.js'
