/** Results of matches, on their way to a backend. */
export {
  createResultOutbox,
  type MatchOutcome,
  type OutboxRecords,
  type ResultOutbox,
  type ResultsDefinition,
  resultsSchema,
} from './result-outbox.js'
