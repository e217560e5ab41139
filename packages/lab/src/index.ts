/** The exports of `@muster/lab`: crowds, runs of queues over them, and reports of the runs. */
export {
  CROWD_FORMAT,
  type Crowd,
  type CrowdHeader,
  type CrowdOrigin,
  type CrowdPlayer,
  type CrowdVisit,
} from './crowd/crowd.js'
export { crowdFor, cutCrowd, mixCrowds, resampleCrowd, scaleCrowd } from './crowd/change-crowd.js'
export { crowdFromRecording } from './crowd/recorded/crowd-from-recording.js'
export { generateCrowd } from './crowd/generate/generate-crowd.js'
export { InvalidCrowd, readCrowd, writeCrowd } from './crowd/crowd-lines.js'
export {
  createLabThreads,
  type JobResult,
  type JobsOptions,
  type LabJob,
  type LabThreads,
  runJobs,
  ThreadFailed,
  type ThreadOptions,
} from './jobs/run-jobs.js'
export { runLab, type LabRun, type LabRunOptions } from './jobs/run-lab.js'
export { runCrowd } from './run/run-crowd.js'
export type { Scene } from './scenes/scene.js'
export { checkScenes } from './scenes/check-scenes.js'
export { runScenes, type SceneFailure, type SceneResult } from './scenes/run-scenes.js'
export { junitXml } from './scenes/junit.js'
export type { MatchOutcome, RunOutcome, TicketOutcome } from './run/outcome.js'
export { figuresOf, type FiguresOptions } from './figures/figures-of.js'
export {
  type CrowdSummary,
  type Fairness,
  type Figures,
  type LabResult,
  type MatchFigures,
  type QueueFigures,
  RESULT_FORMAT,
  type ServerFigures,
  type Variant,
  type VariantRun,
} from './figures/figures.js'
export { compare, type Comparison } from './compare/compare.js'
export type { Difference, Verdict } from './compare/difference.js'
export { reportHtml } from './report/report-html.js'
export { reportText } from './report/report-text.js'
export { tuneCrowd, type TuneCrowdOptions } from './tune/tune-crowd.js'
export type { Tuned } from './tune/tuning-result.js'
export type { Path } from './tune/limits.js'
export { boundOf } from './bound/bound-of.js'
export type { Bound } from './bound/pair-cost.js'
