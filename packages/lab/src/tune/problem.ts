// pure: what a search is given, and what it finds
import type { Point } from './space.js'
import type { Trials } from './trials.js'

/** What is searched. */
export interface Problem<Result> {
  readonly axes: number
  /** Candidates that are tried in any case, the most promising first. */
  readonly starts: readonly Point[]
  readonly trials: Trials<Result>
  /** Numbers of a result that change smoothly from candidate to candidate, e.g. logarithms. */
  outputsOf(result: Result): readonly number[]
  /** How bad a candidate is, by the outputs of its results: a difference of 0.01 is 1 % worse. */
  score(outputs: readonly (readonly number[])[]): number
  /** Candidates that may be better than this one, judged by its results. */
  improvements(point: Point, results: readonly Result[]): readonly Point[]
  /** Number of seeds that the best candidates are run on. */
  readonly seeds: number
  /** Seed of the search itself. */
  readonly seed: number
  /** Whole runs that are left for others at the end. */
  readonly spare: number
}

/** A candidate that was run. */
export interface Tried<Result> {
  readonly point: Point
  /** One for each seed. */
  readonly results: readonly Result[]
  readonly score: number
}
