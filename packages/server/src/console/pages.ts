import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Problem } from '@muster/core/http'

/** A file of the page, ready to be sent. */
interface PageFile {
  readonly type: string
  readonly etag: string
  /** The bytes by their Content-Encoding. `identity` always exists. */
  readonly encodings: ReadonlyMap<Encoding, Uint8Array<ArrayBuffer>>
}

type Encoding = 'br' | 'gzip' | 'identity'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}
const COMPRESSED = new Set(['.html', '.js', '.css', '.svg', '.txt'])

/**
 * Reads the files of a folder, by name, and compresses each of them once. Requests never read the file system.
 * @throws the file system's error if there is no such folder
 */
async function readPageFiles(folder: URL): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
  return new Map(await Promise.all(files.map(async ({ name }) => [name, await readPage(folder, name)] as const)))
}

async function readPage(folder: URL, name: string): Promise<PageFile> {
  const bytes = new Uint8Array(await readFile(new URL(encodeURIComponent(name), folder)))
  const extension = extname(name)
  const encodings = new Map<Encoding, Uint8Array<ArrayBuffer>>([['identity', bytes]])
  if (COMPRESSED.has(extension)) {
    const [small, smaller] = await Promise.all([
      promisify(gzip)(bytes),
      // Brotli quality 5 takes a tenth of the time of the best quality, for a few percent more bytes.
      promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
    ])
    encodings.set('gzip', new Uint8Array(small))
    encodings.set('br', new Uint8Array(smaller))
  }
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { type: TYPES[extension] as string, etag, encodings }
}

/** Browsers must revalidate a file each time, because its name stays the same when its content changes. */
const CACHE = 'no-cache'

/** Answers requests for the page's files. @param folder read at the first request, and then kept in memory. */
export function createPages(folder: URL) {
  let reading: Promise<ReadonlyMap<string, PageFile>> | undefined

  const read = async () => {
    reading ??= readPageFiles(folder)
    try {
      return await reading
    } catch {
      reading = undefined // A later request tries again.
      throw new Problem(503, 'no-page', 'The files of the console are missing. Run `pnpm bundle`.')
    }
  }

  return {
    /**
     * Answers a request for a file. @param path relative to the console's base path, e.g. `/console.js`. @throws
     * {Problem} 404; 405; 503 if the folder has no files
     */
    answer: async (request: Request, path: string): Promise<Response> => {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        throw new Problem(405, 'method-not-allowed', 'Method not allowed. This path accepts GET.', {
          headers: { allow: 'GET' },
        })
      }
      const file = (await read()).get(path === '/' ? 'index.html' : path.slice(1))
      if (file === undefined) throw new Problem(404, 'no-such-path', 'There is nothing at this path.')
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

/** Returns the best encoding that the browser accepts. */
function encodingFor(file: PageFile, accepted: string): Encoding {
  const refused = /;\s*q=0(?:\.0*)?\s*$/
  const names = accepted
    .toLowerCase()
    .split(',')
    .filter((one) => !refused.test(one))
    .map((one) => one.split(';')[0]?.trim())
  return (['br', 'gzip'] as const).find((one) => names.includes(one) && file.encodings.has(one)) ?? 'identity'
}
