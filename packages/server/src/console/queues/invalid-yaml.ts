import type { YamlFault } from '@muster/console/wire'
import { Problem, problemDocument } from '@muster/core/http'

/** The answer about YAML that is wrong: a problem that tells each place. */
export function invalidYaml(faults: readonly YamlFault[]): Response {
  const [first] = faults
  const message = first === undefined ? 'the queue is wrong' : `line ${first.line}: ${first.message}`
  const problem = new Problem(422, 'invalid-queue', message, { field: 'yaml' })
  return new Response(JSON.stringify({ ...problemDocument(problem), faults }), {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json' },
  })
}
