import { useSyncExternalStore } from 'react'
import type { Muster } from './muster.js'
import type { State } from './state.js'

/** React hook that returns the player's state and re-renders the component when it changes. */
export const useMuster = (muster: Muster): State =>
  useSyncExternalStore(
    muster.subscribe,
    () => muster.state,
    () => muster.state,
  )
