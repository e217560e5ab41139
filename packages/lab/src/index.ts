/** What `@muster/lab` offers: crowds, runs of queues over them, and what is told of the runs. */
export {
  CROWD_FORMAT,
  type Crowd,
  type CrowdHeader,
  type CrowdOrigin,
  type CrowdParty,
  type CrowdPlayer,
  type CrowdVisit,
} from './crowd/crowd.js'
export { crowdFor, cutCrowd, mixCrowds, resampleCrowd, scaleCrowd } from './crowd/change-crowd.js'
export {
  crowdFromRecording,
  readTraffic,
  type RecordedCrowd,
  type RecordingOptions,
} from './crowd/recorded/crowd-from-recording.js'
export {
  checkParameters as checkCrowdParameters,
  type ParameterDescription as CrowdParameterDescription,
  type CrowdParameters,
  describeParameters as describeCrowdParameters,
} from './crowd/generate/parameters.js'
export type { City } from './crowd/generate/cities.js'
export { generateCrowd, streamCrowd, type CrowdStream } from './crowd/generate/generate-crowd.js'
export { InvalidCrowd, readCrowd, splitLines, writeCrowd } from './crowd/crowd-lines.js'
export {
  createLabThreads,
  type JobsOptions,
  type LabThreads,
  runJobs,
  ThreadFailed,
  type ThreadOptions,
} from './jobs/run-jobs.js'
export { runLab, type LabRun, type LabRunOptions } from './jobs/run-lab.js'
export type { JobResult, LabJob } from './jobs/job.js'
export { runCrowd, type RunOptions } from './run/run-crowd.js'
export type { Scene } from './scenes/scene.js'
export { checkScenes, type CheckedScenes } from './scenes/check-scenes.js'
export type { SceneFault } from './scenes/checking.js'
export { runScenes, type SceneFailure, type SceneResult } from './scenes/run-scenes.js'
export { junitXml, type SceneSuite } from './scenes/junit.js'
export { scenesJsonSchema } from './scenes/scene-schema.js'
export type { MatchOutcome, RequestUse, RunOutcome, ServerUse, TicketOutcome } from './run/outcome.js'
export { figuresOf, type FiguresOptions } from './figures/figures-of.js'
export {
  type CrowdSummary,
  type Dimension,
  type End,
  type Expansion,
  type ExpansionStep,
  type Fairness,
  type Figures,
  type GroupFairness,
  type LabResult,
  type MatchFigures,
  type Possible,
  type QueueFigures,
  type RequestFigures,
  RESULT_FORMAT,
  type ServerFigures,
  type SkillBand,
  type Slice,
  type Variant,
  type VariantRun,
  WAIT_POINTS_MS,
} from './figures/figures.js'
export type { SkillScale } from './figures/seats.js'
export { compare, type Comparison } from './compare/compare.js'
export type { Difference, MeasuredDifference, SliceDifference, Verdict } from './compare/difference.js'
export { frontHtml, type FrontPage, reportHtml } from './report/report-html.js'
export type { TriedPoint } from './report/plots/comparison-plots.js'
export { reportText } from './report/report-text.js'
export { readResult } from './report/read-result.js'
export type { Interval } from './statistics/paired.js'
export type { Spread } from './statistics/spread.js'
export {
  createRatingBook,
  type PlayedTeam,
  type PlayedTicket,
  type RatingAttributes,
  type RatingBook,
  type RatingOptions,
} from './ratings/rating-book.js'
export {
  type Calibration,
  type Convergence,
  type Experience,
  type RatingFigures,
  ratingSentences,
} from './ratings/rating-figures.js'
export { tuneCrowd, type TuneCrowdOptions, type TunedCrowd } from './tune/tune-crowd.js'
export { changeSentences as tunedChanges, sentencesOf as tunedSentences, tunedTables } from './tune/tuned-sentences.js'
export {
  type Tested,
  type Tuned,
  verdictOf as tunedVerdict,
  type Verdict as TunedVerdict,
  type TuneOptions,
} from './tune/tuned.js'
export { fewestRuns } from './tune/tune-queue.js'
export type { MeasuredRun, QualityPart } from './tune/quality.js'
export type { Broken, FrontPoint, Measured, PromiseName, Promises } from './tune/promises.js'
export { NotTunable, WAITS, type Bounds, type LeftAlone, type WaitName } from './tune/searched.js'
export { type Change, type Path, withChanges } from './tune/limits.js'
export { boundOf } from './bound/bound-of.js'
export type { Bound, BoundUnit } from './bound/pair-cost.js'
