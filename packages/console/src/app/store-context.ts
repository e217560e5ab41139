import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { type Api, whyOf } from './api.js'
import type { Store } from './store.js'

export const StoreContext = createContext<Store | undefined>(undefined)

export function useStore(): Store {
  const store = useContext(StoreContext)
  if (store === undefined) throw new Error('useStore needs a StoreContext provider above it')
  return store
}

/** The latest response, or why it failed. Both fields are undefined until the first response. */
interface Polled<Answer> {
  readonly answer: Answer | undefined
  readonly failure: string | undefined
}

/**
 * Fetches every `everyMs` milliseconds, and immediately after an operator's action. The last response stays while the
 * next is fetched.
 */
export function usePolled<Answer>(
  ask: (api: Api, signal: AbortSignal) => Promise<Answer>,
  everyMs: number,
): Polled<Answer> {
  const { api, clock, connection, outcome } = useStore()
  const [polled, setPolled] = useState<Polled<Answer>>({ answer: undefined, failure: undefined })
  const isLive = connection.value === 'live'
  const done = outcome.value
  useEffect(() => {
    const stopped = new AbortController()
    let cancel = () => {}
    const poll = async () => {
      try {
        setPolled({ answer: await ask(api(), stopped.signal), failure: undefined })
      } catch (error) {
        if (stopped.signal.aborted) return
        setPolled(({ answer }) => ({ answer, failure: whyOf(error) }))
      }
      if (!stopped.signal.aborted) cancel = clock.after(everyMs, () => void poll())
    }
    void poll()
    return () => {
      stopped.abort()
      cancel()
    }
  }, [isLive, done])
  return polled
}
