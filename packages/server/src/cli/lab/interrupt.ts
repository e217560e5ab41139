/** Does work that Ctrl-C ends by its signal. Resolves with undefined if it was ended so. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const ending = new AbortController()
  const end = () => ending.abort(new Error('ended by Ctrl-C'))
  process.once('SIGINT', end)
  try {
    return await work(ending.signal)
  } catch (error) {
    if (ending.signal.aborted) return undefined
    throw error
  } finally {
    process.off('SIGINT', end)
  }
}
