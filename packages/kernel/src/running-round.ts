// pure: a round that runs in steps
import type { Round } from './model.js'
import type { RoundState } from './round-state.js'

export interface RunningRoundOptions {
  readonly state: RoundState
  /** Sets what tells whether time is up. */
  readonly setClock: (isTimeUp: () => boolean) => void
  /** Called after each piece of work. */
  readonly worked: () => void
}

const NEVER = () => false

/** The round that has just begun. It is over as soon as another one begins. */
export function createRunningRound(work: Generator<number, void>, options: RunningRoundOptions): Round {
  const { state, setClock, worked } = options
  const { number } = state
  return {
    step: (amount, isDue = NEVER) => {
      setClock(isDue)
      for (let left = amount; left > 0;) {
        if (number !== state.number) return false
        const { done, value } = work.next()
        worked()
        if (done === true) {
          state.isGoing = false
          return false
        }
        left -= Math.max(1, value)
        if (isDue()) return true
      }
      return true
    },
    take: () => (number === state.number ? state.takeMatches() : []),
    hurry: () => {
      if (number === state.number) state.isLate = true
    },
  }
}
