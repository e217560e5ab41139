/** Returns the milliseconds of CPU time of this process. Work of other processes on the machine is not included. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/**
 * Measures the longest turn of the event loop. Returns a function that ends the measurement and returns the
 * milliseconds.
 */
export function watchLoop(): () => number {
  let [last, lastCpu, longest, watching] = [performance.now(), cpuMs(), 0, true]
  const turn = () => {
    const [now, cpu] = [performance.now(), cpuMs()]
    longest = Math.max(longest, Math.min(now - last, cpu - lastCpu))
    last = now
    lastCpu = cpu
    if (watching) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    watching = false
    return longest
  }
}
