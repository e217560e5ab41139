import type { Strike } from '../faults/faults.js'
import type { Reply } from './reply.js'

const page = (status: number) =>
  `<!doctype html><html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`

/** Damages an answer's body as a declared fault says. Pure. */
export function garble(reply: Reply, how: Strike['body']): Reply {
  // A 204 has no body to damage.
  if (how === undefined || reply.body === undefined) return reply
  switch (how) {
    case 'malformed':
      // A cut-off JSON text with an open bracket is never valid JSON.
      return { ...reply, body: `${reply.body.slice(0, -1)},` }
    case 'empty':
      return { ...reply, body: '' }
    case 'truncated':
      return { ...reply, truncated: true }
    case 'html':
      return {
        ...reply,
        headers: { ...reply.headers, 'content-type': 'text/html; charset=utf-8' },
        body: page(reply.status),
      }
  }
}
