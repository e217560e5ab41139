import { Problem } from '@muster/core/http'
import { readPageFiles, type Encoding, type PageFile } from './page-files.js'

/** Answers requests for the page's files. */
export interface Pages {
  /** @param path below the console's own path, e.g. `/console.js`. @throws {Problem} 404, 405; 503 without files */
  answer(request: Request, path: string): Promise<Response>
}

/** The name of a file does not change when its content does, so browsers ask each time whether it did. */
const CACHE = 'no-cache'

/** @param folder read with the first request, and then kept in memory. */
export function createPages(folder: URL): Pages {
  let reading: Promise<ReadonlyMap<string, PageFile>> | undefined

  const read = async () => {
    reading ??= readPageFiles(folder)
    try {
      return await reading
    } catch {
      reading = undefined // a later request tries again
      throw new Problem(503, 'no-page', 'the files of the console’s page are missing: `pnpm bundle` makes them')
    }
  }

  return {
    answer: async (request, path) => {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        throw new Problem(405, 'method-not-allowed', 'this path has GET', { headers: { allow: 'GET' } })
      }
      const file = (await read()).get(path === '/' ? 'index.html' : path.slice(1))
      if (file === undefined) throw new Problem(404, 'no-such-path', 'there is nothing at this path')
      const headers = { etag: file.etag, 'cache-control': CACHE, vary: 'accept-encoding' }
      if (hasCurrent(request.headers.get('if-none-match'), file.etag)) {
        return new Response(null, { status: 304, headers })
      }
      const encoding = encodingFor(file, request.headers.get('accept-encoding') ?? '')
      const bytes = file.encodings.get(encoding) as Uint8Array<ArrayBuffer>
      return new Response(request.method === 'HEAD' ? null : bytes, {
        headers: {
          ...headers,
          'content-type': file.type,
          'content-length': String(bytes.byteLength),
          ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
        },
      })
    },
  }
}

const hasCurrent = (header: string | null, etag: string) =>
  header?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*') === true

/** The best encoding that the browser takes. */
function encodingFor(file: PageFile, accepted: string): Encoding {
  const refused = /;\s*q=0(?:\.0*)?\s*$/
  const names = accepted
    .toLowerCase()
    .split(',')
    .filter((one) => !refused.test(one))
    .map((one) => one.split(';')[0]?.trim())
  return (['br', 'gzip'] as const).find((one) => names.includes(one) && file.encodings.has(one)) ?? 'identity'
}
