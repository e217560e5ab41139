import { useSyncExternalStore } from 'react'
import type { Muster } from './muster.js'
import type { State } from './state.js'

/** What the player is in, for a component that is drawn anew with each change. */
export const useMuster = (muster: Muster): State =>
  useSyncExternalStore(
    muster.subscribe,
    () => muster.state,
    () => muster.state,
  )
