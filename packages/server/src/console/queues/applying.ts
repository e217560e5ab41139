import { isAllowed, type Applied } from '@muster/console/wire'
import { MusterError } from '@muster/core'
import { Problem } from '@muster/core/http'
import type { ConsoleOptions, Operator } from '../options.js'
import { readEditedQueue } from './edited-queue.js'
import type { QueueCardsSource } from './queue-cards.js'
import { invalidYaml } from './invalid-yaml.js'
import { isSameDeploy } from './shown-queue.js'

export interface Edit {
  readonly name: string
  readonly version: number
  readonly yaml: string
}

/** Replaces queues by what operators wrote, one after the other. Returns what the API answers. */
export type ApplyEdit = (edit: Edit, operator: Operator) => Promise<Applied | Response>

const DEPLOY_FIXED =
  'deploy: may not be changed here. Change it in the configuration file, or use a key with the role deploy where ' +
  'console.editDeploy is true'

export function createApplying(
  { applyQueue, acted, editDeploy = false }: Pick<ConsoleOptions, 'applyQueue' | 'acted' | 'editDeploy'>,
  queues: QueueCardsSource,
): ApplyEdit {
  let last: Promise<unknown> = Promise.resolve()

  const apply = async ({ name, version, yaml }: Edit, { who, role }: Operator): Promise<Applied | Response> => {
    const { definition: before, version: current, fixed } = queues.inForce(name)
    if (applyQueue === undefined || fixed !== null) {
      throw new Problem(409, 'fixed-queue', fixed ?? 'queues cannot be changed here')
    }
    if (version !== current) {
      throw new Problem(409, 'stale-version', `the queue has changed: its version is ${current} now`, {
        members: { version: current },
      })
    }
    const { definition, faults } = readEditedQueue(yaml, before)
    if (definition === undefined) return invalidYaml(faults)
    if (!(editDeploy && isAllowed(role, 'deploy')) && !isSameDeploy(before, definition))
      throw new Problem(403, 'deploy-fixed', DEPLOY_FIXED, { field: 'deploy' })
    try {
      const { kept, refused } = await applyQueue(name, definition, yaml)
      acted({ who, what: 'apply-queue', id: name })
      return { kept, refused, version: queues.inForce(name).version }
    } catch (error) {
      if (error instanceof MusterError) throw new Problem(409, 'not-applied', error.message)
      throw error
    }
  }

  return (edit, operator) => {
    // Two edits of one version must not both succeed.
    const applied = last.then(() => apply(edit, operator))
    last = applied.catch(() => {})
    return applied
  }
}
