import { cpus } from 'node:os'

export interface MachineTime {
  /** Microseconds of processor time that the whole machine has used. */
  readonly usedMicroseconds: number
  /** Of all its cores together. */
  readonly passedMicroseconds: number
}

export function machineTime(): MachineTime {
  const times = cpus().map((core) => core.times)
  const idle = times.reduce((sum, time) => sum + time.idle, 0)
  const used = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, 0)
  return { usedMicroseconds: used * 1000, passedMicroseconds: (used + idle) * 1000 }
}

/** How many cores were in use on average. */
export const coresUsed = (microseconds: number, before: MachineTime, after: MachineTime): number =>
  (microseconds / (after.passedMicroseconds - before.passedMicroseconds)) * cpus().length
