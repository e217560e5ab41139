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
export { crowdFor } from './crowd/crowd-for.js'
export { cutCrowd } from './crowd/change/cut-crowd.js'
export { mixCrowds } from './crowd/change/mix-crowds.js'
export { resampleCrowd } from './crowd/change/resample-crowd.js'
export { scaleCrowd } from './crowd/change/scale-crowd.js'
export { crowdFromRecording, type RecordedCrowd, type RecordingOptions } from './crowd/recorded/crowd-from-recording.js'
export { readTraffic } from './crowd/recorded/read-traffic.js'
export { checkParameters as checkCrowdParameters } from './crowd/generate/check-parameters.js'
export {
  describeParameters as describeCrowdParameters,
  type ParameterDescription as CrowdParameterDescription,
} from './crowd/generate/describe-parameters.js'
export type { City } from './crowd/generate/cities.js'
export { generateCrowd, streamCrowd, type CrowdStream } from './crowd/generate/generate-crowd.js'
export { InvalidCrowd } from './crowd/lines/invalid-crowd.js'
export { readCrowd } from './crowd/lines/read-crowd.js'
export { splitLines } from './crowd/lines/split-lines.js'
export { writeCrowd } from './crowd/lines/write-crowd.js'
export type { CrowdParameters } from './crowd/generate/parameters.js'
export {
  createLabThreads,
  runJobs,
  type JobsOptions,
  type LabThreads,
  type ThreadOptions,
} from './jobs/run-jobs.js'
export { runLab, type LabRun, type LabRunOptions } from './jobs/run-lab.js'
export type { JobResult, LabJob } from './jobs/job.js'
export { ThreadFailed } from './jobs/thread.js'
export { runCrowd } from './run/run-crowd.js'
export type { RunOptions } from './run/options.js'
export type { Scene } from './scenes/scene.js'
export { checkScenes, type CheckedScenes } from './scenes/check-scenes.js'
export type { SceneFault } from './scenes/checking.js'
export { runScenes, type SceneFailure, type SceneResult } from './scenes/run-scenes.js'
export { junitXml, type SceneSuite } from './scenes/junit.js'
export { scenesJsonSchema } from './scenes/scenes-json-schema.js'
export type { MatchOutcome, RequestUse, RunOutcome, ServerUse, TicketOutcome } from './run/outcome.js'
export { figuresOf, type FiguresOptions } from './figures/figures-of.js'
export { WAIT_POINTS_MS } from './figures/wait-points.js'
export type { SkillScale } from './figures/skill.js'
export type {
  Dimension,
  End,
  Expansion,
  ExpansionStep,
  Fairness,
  Figures,
  GroupFairness,
  MatchFigures,
  QueueFigures,
  RequestFigures,
  ServerFigures,
  SkillBand,
  Slice,
} from './figures/figures.js'
export {
  RESULT_FORMAT,
  type CrowdSummary,
  type LabResult,
  type Possible,
  type Variant,
  type VariantRun,
} from './figures/lab-result.js'
export { compare, type Comparison } from './compare/compare.js'
export type { SliceDifference } from './compare/slices.js'
export type { Difference, MeasuredDifference, Verdict } from './compare/difference.js'
export { frontHtml, type FrontPage } from './report/front-html.js'
export type { TriedPoint } from './report/plots/pareto.js'
export { reportHtml } from './report/report-html.js'
export { reportText } from './report/report-text.js'
export { readResult } from './report/read-result.js'
export type { Interval } from './statistics/paired.js'
export type { Spread } from './statistics/spread.js'
export { createRatingBook, type PlayedTeam, type PlayedTicket, type RatingBook } from './ratings/rating-book.js'
export type { RatingAttributes } from './ratings/rating-attributes.js'
export type { Calibration, Convergence, Experience, RatingFigures } from './ratings/rating-figures.js'
export { ratingSentences } from './ratings/rating-sentences.js'
export type { RatingOptions } from './ratings/rating-options.js'
export { tuneCrowd, type TuneCrowdOptions, type TunedCrowd } from './tune/tune-crowd.js'
export { tunedTables } from './tune/tables.js'
export { changeSentences as tunedChanges } from './tune/words.js'
export { sentencesOf as tunedSentences } from './tune/sentences.js'
export { verdictOf as tunedVerdict, type Verdict as TunedVerdict } from './tune/verdict.js'
export { fewestRuns } from './tune/tune-queue.js'
export type { Tested, Tuned, TuneOptions } from './tune/tuned.js'
export type { MeasuredRun } from './tune/measured-run.js'
export type { QualityPart } from './tune/quality.js'
export type { Broken, Measured, PromiseName, Promises } from './tune/promises.js'
export { NotTunable, WAITS, type Bounds, type LeftAlone, type WaitName } from './tune/searched.js'
export { withChanges, type Change } from './tune/change.js'
export type { FrontPoint } from './tune/front.js'
export type { Path } from './tune/limits.js'
export { boundOf } from './bound/bound-of.js'
export type { Bound, BoundUnit } from './bound/bound.js'
