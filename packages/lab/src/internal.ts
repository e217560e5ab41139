/** Exports for the other packages of this repository. They may change without notice. */
export { splitLines } from './crowd/crowd-lines.js'
export type { CrowdParty } from './crowd/crowd.js'
export { streamCrowd } from './crowd/generate/generate-crowd.js'
export {
  checkParameters as checkCrowdParameters,
  type ParameterDescription as CrowdParameterDescription,
  type CrowdParameters,
  describeParameters as describeCrowdParameters,
} from './crowd/generate/parameters.js'
export { readTraffic, type RecordedCrowd, type RecordingOptions } from './crowd/recorded/crowd-from-recording.js'
export { studyLearning } from './jobs/learning-study.js'
export { readResult } from './report/read-result.js'
export { frontHtml } from './report/report-html.js'
export type { SceneSuite } from './scenes/junit.js'
export { scenesJsonSchema } from './scenes/scene-schema.js'
export { type Change, withChanges } from './tune/limits.js'
export type { MeasuredRun } from './tune/quality.js'
export { type Bounds, NotTunable, type WaitName } from './tune/limit-search.js'
export type { TunedCrowd } from './tune/tune-crowd.js'
export { changeSentences as tunedChanges, sentencesOf as tunedSentences, tunedTables } from './tune/tuned-sentences.js'
export { verdictOf as tunedVerdict } from './tune/tuning-result.js'
