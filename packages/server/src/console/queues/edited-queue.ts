import type { YamlFault } from '@muster/console/wire'
import { checkQueue, type QueueDefinition } from '@muster/matchmaker'
import { readYaml } from '../../config/yaml-source.js'
import { withHidden } from './shown-queue.js'

/** A queue that an operator wrote, or why it cannot be used, line by line. */
export type EditedQueue =
  | { readonly definition: QueueDefinition; readonly faults: readonly [] }
  | { readonly definition?: undefined; readonly faults: readonly YamlFault[] }

/** A queue of a hundred rules has a third as many. It is read within some 10 ms, on the thread that answers players. */
const MOST_TOKENS = 10_000
/** Faults that are told at once. */
const MOST_FAULTS = 20

/**
 * Reads the YAML of one queue.
 * @param inForce the queue that it replaces, whose name it keeps and whose hidden parts stay.
 */
export function readEditedQueue(yaml: string, inForce: QueueDefinition): EditedQueue {
  const source = readYaml(yaml, MOST_TOKENS)
  const refuse = (faults: readonly YamlFault[]): EditedQueue => ({
    faults: faults.toSorted((one, other) => one.line - other.line).slice(0, MOST_FAULTS),
  })
  if (source.faults.length > 0) {
    return refuse(
      source.faults.map(({ place, path, message }) => ({
        ...source.positionOf(place),
        message: [path.join('.'), message].filter((part) => part !== '').join(': '),
      })),
    )
  }
  const definition = withHidden(source.value, inForce)
  const name = nameOf(definition)
  if (name !== inForce.name) {
    const { line, column } = source.positionOf(source.placeOf(['name']))
    return refuse([{ line, column, message: `name: must stay ${JSON.stringify(inForce.name)}` }])
  }
  const { faults } = checkQueue(definition)
  if (faults.length === 0) return { definition: definition as QueueDefinition, faults: [] }
  return refuse(
    faults.map(({ path, message }) => ({
      ...source.positionOf(source.placeOf(path, message.startsWith('is not known') ? 'name' : 'value')),
      message: [path.join('.'), message].filter((part) => part !== '').join(': '),
    })),
  )
}

const nameOf = (definition: unknown): unknown =>
  typeof definition === 'object' && definition !== null ? Reflect.get(definition, 'name') : undefined
