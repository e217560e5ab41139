import { z } from 'zod'
import { DURATION } from './durations.js'
import {
  defaultsSchema,
  expectationSchema,
  fileSchema,
  happeningSchema,
  sceneSchema,
  ticketSchema,
} from './scene-schema.js'

type Json = Readonly<Record<string, unknown>>

/** What editors know best, as for the configuration. */
const DRAFT = 'http://json-schema.org/draft-07/schema#'

const TIME = DURATION.source.slice(1)

/** A file of scenes as JSON Schema, for editors. `muster lab test` knows more than it says, e.g. names of tickets. */
export function scenesJsonSchema(): Json {
  const of = (schema: z.ZodType): Json => {
    const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7', unrepresentable: 'any' })
    return json
  }
  const part = (name: string): Json => ({ $ref: `#/definitions/${name}` })
  const moments = (names: RegExp, name: string, description: string): Json => ({
    type: 'object',
    description,
    minProperties: 1,
    propertyNames: { pattern: names.source },
    additionalProperties: part(name),
  })
  const scene = of(sceneSchema)
  const file = of(fileSchema)
  return {
    $schema: DRAFT,
    title: 'Scenes of the rule lab',
    ...file,
    properties: {
      queues: {
        description: 'The file of the queues, beside this file, e.g. ./muster.yaml; or the queues themselves.',
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }],
      },
      defaults: part('defaults'),
      scenes: { type: 'array', description: 'The scenes, each by itself.', minItems: 1, items: part('scene') },
    },
    definitions: {
      scene: {
        ...scene,
        properties: {
          ...(scene['properties'] as Json),
          defaults: part('defaults'),
          tickets: {
            type: 'object',
            description: 'The tickets, by the names that expectations call them by.',
            minProperties: 1,
            additionalProperties: part('ticket'),
          },
          happens: moments(new RegExp(`^after +${TIME}`), 'happening', 'What happens, by its time: `after 5s`.'),
          expect: moments(
            new RegExp(`^(after|by) +${TIME}`),
            'expectation',
            'What must be so, by its time: `after 12s`, as it is then; `by 20s`, at some time until then.',
          ),
        },
      },
      defaults: of(defaultsSchema),
      ticket: { anyOf: [of(ticketSchema), { type: 'null' }] },
      happening: of(happeningSchema),
      expectation: of(expectationSchema),
    },
  }
}
