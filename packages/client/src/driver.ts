import type { Clock } from './clock.js'
import type { Send } from './connection.js'
import { createListeners } from './listeners.js'
import type { MachineInput, Machine, Output } from './machine.js'
import { MusterError } from './refusal.js'
import type { State } from './state.js'

interface PendingCommand {
  readonly resolve: () => void
  readonly reject: (error: MusterError) => void
}

/** A command that has no number yet. */
type Unnumbered<Wanted> = Wanted extends { readonly command: number } ? Omit<Wanted, 'command'> : never

export type Driver = ReturnType<typeof createDriver>

/** Connects a machine to the world: performs its outputs, and passes it commands, responses and the time. */
export function createDriver(machine: Machine, send: Send, clock: Clock) {
  const { subscribe, tell } = createListeners<State>()
  const pending = new Map<number, PendingCommand>()
  const underWay = new Map<number, AbortController>()
  const inputs: MachineInput[] = []
  let isStepping = false
  let commands = 0
  let state: State = Object.freeze({ phase: 'idle' })
  let timer = new AbortController()

  const step = (input: MachineInput) => {
    inputs.push(input)
    // The running step handles this input too: a listener has issued a command during the step.
    if (isStepping) return
    isStepping = true
    try {
      for (let next = inputs.shift(); next !== undefined; next = inputs.shift())
        for (const output of machine.step(next, clock.now())) carryOut(output)
    } finally {
      isStepping = false
    }
  }

  /**
   * Converts the date in a state to the device's clock, because the game compares the date with that clock. The
   * device's clock may have been set since the start.
   */
  const dated = (given: State): State => {
    const aheadMs = (clock.date?.() ?? clock.now()) - clock.now()
    return given.stale === undefined || aheadMs === 0
      ? given
      : Object.freeze({ ...given, stale: Math.round(given.stale + aheadMs) })
  }

  const carryOut = (output: Output) => {
    if ('request' in output) {
      const ending = new AbortController()
      const { request } = output
      underWay.set(request, ending)
      void send({ ...output, signal: ending.signal }).then((answer) => {
        if (underWay.delete(request)) step({ answer: request, ...answer })
      })
    } else if ('abort' in output) {
      const ending = underWay.get(output.abort)
      underWay.delete(output.abort)
      ending?.abort()
    } else if ('wakeAt' in output) {
      timer.abort()
      timer = new AbortController()
      if (output.wakeAt === null) return
      const ms = Math.max(0, output.wakeAt - clock.now())
      clock.sleep(ms, timer.signal).then(
        () => step({ wake: true }),
        () => {},
      )
    } else if ('state' in output) {
      state = dated(output.state)
      tell(state)
    } else if ('done' in output) {
      pending.get(output.done)?.resolve()
      pending.delete(output.done)
    } else {
      pending.get(output.failed)?.reject(new MusterError(output.refusal))
      pending.delete(output.failed)
    }
  }

  const run = (wanted: Unnumbered<Extract<MachineInput, { do: string }>>): Promise<void> => {
    // A request that JSON cannot hold would never arrive, however often it is sent.
    try {
      JSON.stringify(wanted)
    } catch (error) {
      return Promise.reject(error)
    }
    commands += 1
    const command = commands
    const granted = new Promise<void>((resolve, reject) => pending.set(command, { resolve, reject }))
    step({ ...wanted, command } as MachineInput)
    return granted
  }

  return {
    state: () => state,
    subscribe,
    /** Resolves once the command has succeeded. @throws {MusterError}; {TypeError} for what JSON cannot hold */
    run,
    close: () => step({ do: 'close', command: 0 }),
  }
}
