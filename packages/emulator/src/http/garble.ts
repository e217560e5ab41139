import type { Strike } from '../faults/faults.js'
import type { Reply } from './reply.js'

const page = (status: number) =>
  `<!doctype html><html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`

/** What a declared fault makes of an answer's body. Pure. */
export function garble(reply: Reply, how: Strike['body']): Reply {
  // A 204 has no body that could go wrong.
  if (how === undefined || reply.body === undefined) return reply
  switch (how) {
    case 'malformed':
      // No prefix of JSON text with an open bracket is JSON.
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
