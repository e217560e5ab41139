/** Milliseconds of CPU of this process: what others take of a shared machine is not charged to it. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Watches the event loop. Call the result to end it: it gives the milliseconds of the longest turn. */
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
