import { cpus } from 'node:os'

export interface MachineTime {
  /** Microseconds of CPU time that the whole machine has used. */
  readonly usedMicroseconds: number
  /** Microseconds that have passed, added up over all cores. */
  readonly passedMicroseconds: number
}

export function machineTime(): MachineTime {
  const times = cpus().map((core) => core.times)
  const idle = times.reduce((sum, time) => sum + time.idle, 0)
  const used = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, 0)
  return { usedMicroseconds: used * 1000, passedMicroseconds: (used + idle) * 1000 }
}

/** Returns the average number of cores that were in use. */
export const coresUsed = (microseconds: number, before: MachineTime, after: MachineTime): number =>
  (microseconds / (after.passedMicroseconds - before.passedMicroseconds)) * cpus().length
