import { type Applied, isAllowed, type YamlFault } from '@muster/console/internal'
import { MusterError } from '@muster/core'
import { Problem } from '@muster/core/http'
import { problemDocument } from '@muster/core/internal'
import { checkQueue, type QueueDefinition } from '@muster/matchmaker'
import { type PathFault, readYaml, type Source } from '../config/index.js'
import type { ConsoleOptions, Operator } from './options.js'
import { isSameDeploy, type QueueCardsSource, withHidden } from './queue-cards.js'

/** A queue that an operator wrote, or the faults of the text with their lines. */
type EditedQueue =
  | { readonly definition: QueueDefinition; readonly faults: readonly [] }
  | { readonly definition?: undefined; readonly faults: readonly YamlFault[] }

/**
 * Maximum number of YAML tokens in an edited queue. A queue of a hundred rules has a third of that. Parsing takes some
 * 10 ms, on the thread that answers players.
 */
const MOST_TOKENS = 10_000
/** Maximum number of reported faults. */
const MOST_FAULTS = 20

/**
 * Reads the YAML of one queue.
 * @param inForce the queue that the text replaces. Its name must stay, and its hidden parts are kept.
 */
export function readEditedQueue(yaml: string, inForce: QueueDefinition): EditedQueue {
  const source = readYaml(yaml, MOST_TOKENS)
  const refuse = (faults: readonly YamlFault[]): EditedQueue => ({
    faults: faults.toSorted((one, other) => one.line - other.line).slice(0, MOST_FAULTS),
  })
  const faultAt = (
    place: ReturnType<Source['placeOf']>,
    { path, message }: Pick<PathFault, 'path' | 'message'>,
  ): YamlFault => ({
    ...source.positionOf(place),
    message: [path.join('.'), message].filter((part) => part !== '').join(': '),
  })
  if (source.faults.length > 0) {
    return refuse(source.faults.map((fault) => faultAt(fault.place, fault)))
  }
  const definition = withHidden(source.value, inForce)
  const name = nameOf(definition)
  if (name !== inForce.name) {
    const { line, column } = source.positionOf(source.placeOf(['name']))
    return refuse([
      {
        line,
        column,
        message: `name: must stay ${JSON.stringify(inForce.name)}, because an edit cannot rename a queue`,
      },
    ])
  }
  const { faults } = checkQueue(definition)
  if (faults.length === 0) return { definition: definition as QueueDefinition, faults: [] }
  return refuse(
    faults.map((fault) =>
      faultAt(source.placeOf(fault.path, fault.message.startsWith('is not known') ? 'name' : 'value'), fault),
    ),
  )
}

const nameOf = (definition: unknown): unknown =>
  typeof definition === 'object' && definition !== null ? Reflect.get(definition, 'name') : undefined

/** Creates the response to invalid YAML: a problem that names each position. */
export function invalidYaml(faults: readonly YamlFault[]): Response {
  const [first] = faults
  const message = first === undefined ? 'the queue is invalid' : `line ${first.line}: ${first.message}`
  const problem = new Problem(422, 'invalid-queue', message, { field: 'yaml' })
  return new Response(JSON.stringify({ ...problemDocument(problem), faults }), {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json' },
  })
}

interface Edit {
  readonly name: string
  readonly version: number
  readonly yaml: string
}

/** Replaces queues by operators' edits, one after another. Resolves with the applied edit or with the API's refusal. */
type ApplyEdit = (edit: Edit, operator: Operator) => Promise<Applied | Response>

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
      throw new Problem(409, 'fixed-queue', fixed ?? 'Queues cannot be changed here.')
    }
    if (version !== current) {
      const message = `The queue is at version ${current} now. Read it again and repeat the edit.`
      throw new Problem(409, 'stale-version', message, { members: { version: current } })
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
    // Edits run one after another, so that two edits of the same version cannot both succeed.
    const applied = last.then(() => apply(edit, operator))
    last = applied.catch(() => {})
    return applied
  }
}
