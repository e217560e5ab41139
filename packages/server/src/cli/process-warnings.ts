type Listener = (warning: Error) => void

/** The events of a process. */
interface Warner {
  listeners(event: 'warning'): unknown[]
  removeAllListeners(event: 'warning'): unknown
  on(event: 'warning', listener: Listener): unknown
}

/**
 * Takes the warnings of Muster's packages from Node.js, which prints them on the standard error: there the log's
 * reader misses them, and addresses in them are not removed. Other warnings are printed as before.
 * @returns a function that passes all warnings to a listener, those so far included.
 */
export function takeWarnings(process: Warner): (listener: Listener) => void {
  const waiting: Error[] = []
  let hear: Listener = (warning) => void waiting.push(warning)
  const others = process.listeners('warning') as Listener[]
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name === 'MusterWarning') hear(warning)
    else for (const other of others) other(warning)
  })
  return (listener) => {
    hear = listener
    for (const warning of waiting.splice(0)) listener(warning)
  }
}
