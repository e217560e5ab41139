interface Signals {
  once(name: 'SIGINT', listener: () => void): unknown
  off(name: 'SIGINT', listener: () => void): unknown
}

/**
 * Does work that Ctrl-C ends by its signal. Resolves with undefined if it was ended so.
 * @param signals default: those of the process.
 */
export async function interruptible<T>(
  work: (signal: AbortSignal) => Promise<T>,
  signals: Signals = process,
): Promise<T | undefined> {
  const ending = new AbortController()
  const end = () => ending.abort(new Error('ended by Ctrl-C'))
  signals.once('SIGINT', end)
  try {
    return await work(ending.signal)
  } catch (error) {
    if (ending.signal.aborted) return undefined
    throw error
  } finally {
    signals.off('SIGINT', end)
  }
}
