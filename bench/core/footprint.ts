import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { atMost, median, type Figures } from '../figure.js'

const run = promisify(execFile)
const here = dirname(fileURLToPath(import.meta.url))
const entry = fileURLToPath(import.meta.resolve('@muster/core'))

/** Measures what the package costs its users before it does anything: its size, its import, and its type check. */
export async function footprintFigures(): Promise<Figures> {
  const declared = await declarations(entry.replace(/\.js$/, '.d.ts'))
  const bytes = [...declared.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return {
    figures: [
      atMost('footprint: import of @muster/core', await importMilliseconds('@muster/core'), 120, 'ms'),
      // A sixth of the goal is for the descriptions of the 58 operations, which editors show.
      atMost('footprint: declarations of the client', bytes / 1000, 150, 'KB'),
      atMost('footprint: tsc -b of a project that uses it', await buildSeconds(), 2, 's'),
    ],
    peers: {
      'footprint: import in milliseconds': {
        zod: Math.round(median(await importMilliseconds('zod'))),
        undici: Math.round(median(await importMilliseconds('undici'))),
      },
    },
  }
}

/** Returns the milliseconds of an import, in a new process each time. The files are in the system's cache. */
async function importMilliseconds(name: string): Promise<number[]> {
  const url = createRequire(entry).resolve(name === '@muster/core' ? entry : name)
  const load = `await import(${JSON.stringify(url)})`
  const code = `const start = performance.now(); ${load}; console.log(performance.now() - start)`
  const times: number[] = []
  for (let round = 0; round < 15; round += 1) {
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code])
    times.push(Number(stdout))
  }
  return times
}

/** Returns the declaration file, and all declaration files of the package that it imports, with their texts. */
async function declarations(file: string, seen = new Map<string, string>()): Promise<Map<string, string>> {
  if (seen.has(file)) return seen
  const text = await readFile(file, 'utf8')
  seen.set(file, text)
  for (const [, path = ''] of text.matchAll(/from '(\.{1,2}\/[^']+)\.js'/g))
    await declarations(join(dirname(file), `${path}.d.ts`), seen)
  return seen
}

const program = `
import { createClient, NoCapacity, type Client } from '@muster/core'
const client: Client = createClient({ baseUrl: 'https://service.example', token: 'secret' })
export async function deploy(ip_address: string): Promise<string | undefined> {
  try {
    const { request_id } = await client.deployments.create({
      application: 'arena',
      version: '1.0.0',
      users: [{ user_type: 'ip_address', user_data: { ip_address } }],
    })
    for await (const fleet of client.fleets.list.all()) console.log(fleet.name)
    return (await client.deployments.waitUntilReady(request_id)).fqdn ?? undefined
  } catch (error) {
    if (error instanceof NoCapacity && error.requestId) await client.deployments.stop({ request_id: error.requestId })
    throw error
  }
}
`
const config = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    types: ['node'],
    skipLibCheck: true,
    composite: true,
  },
  files: ['main.ts'],
}

/** Returns the seconds of a build without any earlier output. */
async function buildSeconds(): Promise<number[]> {
  const typescript = createRequire(import.meta.url).resolve('typescript/package.json')
  const tsc = join(dirname(typescript), 'bin', 'tsc')
  const times: number[] = []
  for (let round = 0; round < 3; round += 1) {
    const folder = await mkdtemp(join(here, 'project-'))
    try {
      await writeFile(join(folder, 'main.ts'), program)
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
      const start = performance.now()
      await run(process.execPath, [tsc, '-b', folder])
      times.push((performance.now() - start) / 1000)
    } finally {
      await rm(folder, { recursive: true })
    }
  }
  return times
}
