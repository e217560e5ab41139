import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Answer, Led, Order, Used } from './partition-messages.js'

/** The role of a process. A standby may lead, but the benchmark does not wait until it does. */
export type Role = 'leader' | 'standby' | 'follower' | 'memory'

/** A process of the measurement. */
export interface Member {
  readonly child: ChildProcess
  ask<Kind extends Answer['kind']>(order: Order): Promise<Extract<Answer, { kind: Kind }>>
  report(collectsGarbage?: boolean): Promise<Used>
  /** Resolves once the process leads. */
  readonly led: Promise<Led>
  /** Returns how often the process has become the leader. */
  terms(): number
  kill(): Promise<void>
}

/** Starts a process. Resolves once it works; for a leader, once it leads. */
export async function startMember(role: Role, redisUrl = ''): Promise<Member> {
  const child = fork(new URL('./partition-process.js', import.meta.url), [role, redisUrl], {
    execArgv: ['--expose-gc'],
  })
  let answered: (answer: Answer) => void = () => {}
  const next = () => new Promise<Answer>((resolve) => (answered = resolve))
  const started = next()
  let terms = 0
  const led = new Promise<Led>((resolve) => {
    child.on('message', (message: Answer | Led) => {
      if (message.kind !== 'led') return answered(message)
      terms += 1
      resolve(message)
    })
  })
  await started
  if (role === 'leader') await led
  const ask: Member['ask'] = async (order) => {
    const answer = next()
    child.send(order)
    return (await answer) as never
  }
  return {
    child,
    ask,
    report: (collectsGarbage = false) => ask<'used'>({ kind: 'report', collectsGarbage }),
    led,
    terms: () => terms,
    kill: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}
