/** The figures of a run: waits, matches, requests and servers. */
export { figuresOf, type FiguresOptions } from './figures-of.js'
export {
  type Dimension,
  type End,
  type Fairness,
  type Figures,
  type LabResult,
  type PoolFigures,
  type Possible,
  type Refusal,
  RESULT_FORMAT,
  type Slice,
  type Variant,
  WAIT_POINTS_MS,
} from './figures.js'
