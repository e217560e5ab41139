import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { systemClock } from '@muster/core/clock'
import { atMost, median, type Figures } from '../figure.js'

const run = promisify(execFile)
const ROUNDS = 7

/** What it costs to have `@muster/core` in a project, before it does anything. */
export async function footprintFigures(): Promise<Figures> {
  const entry = fileURLToPath(import.meta.resolve('@muster/core'))
  const declarations = await sizeOfDeclarations(entry.replace(/\.js$/, '.d.ts'))
  return {
    figures: [
      atMost('core: cold import', await coldImportMs(), 120, 'ms'),
      atMost('core: declarations of the client', declarations / 1000, 120, 'KB'),
      atMost('core: tsc -b of a project that uses it', await compileSeconds(resolve(dirname(entry), '..')), 2, 's'),
    ],
    peers: {},
  }
}

/** In a new process each time, without the start of Node itself. */
async function coldImportMs(): Promise<number> {
  const code = "const begin = performance.now(); await import('@muster/core'); console.log(performance.now() - begin)"
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { cwd: dirname(fileURLToPath(import.meta.url)) })
    times.push(Number(stdout))
  }
  return median(times)
}

/** Bytes of the declaration files that an entry point leads to, its own package's only. */
async function sizeOfDeclarations(entry: string): Promise<number> {
  const seen = new Set<string>()
  const read = async (file: string): Promise<number> => {
    if (seen.has(file)) return 0
    seen.add(file)
    const text = await readFile(file, 'utf8')
    const imports = Array.from(text.matchAll(/(?:from |import\()['"](\.[^'"]+)\.js['"]/g), ([, path]) => join(dirname(file), `${path}.d.ts`))
    const sizes: number[] = []
    for (const path of imports) sizes.push(await read(path))
    return Buffer.byteLength(text) + sizes.reduce((sum, size) => sum + size, 0)
  }
  return read(entry)
}

const program = `import { createClient, NotFound } from '@muster/core'
const client = createClient({ baseUrl: 'https://service.example.com', token: 'token' })
const { request_id } = await client.deployments.create({ application: 'game', version: '1', users: [] })
const deployment = await client.deployments.waitUntilReady(request_id).catch((error) => error instanceof NotFound)
console.log(typeof deployment)
for await (const { name } of client.fleets.list.all()) console.log(name)
`

/** A project of one file, compiled from nothing. */
async function compileSeconds(core: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-footprint-'))
  try {
    const compilerOptions = { strict: true, module: 'nodenext', target: 'es2023', outDir: 'dist', composite: true, skipLibCheck: true, types: [] }
    await mkdir(join(folder, 'node_modules/@muster'), { recursive: true })
    await symlink(core, join(folder, 'node_modules/@muster/core'))
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }))
    await writeFile(join(folder, 'main.ts'), `declare const console: { log(text: string): void }\n${program}`)
    const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      await rm(join(folder, 'dist'), { recursive: true, force: true })
      await rm(join(folder, 'tsconfig.tsbuildinfo'), { force: true })
      const begin = systemClock.now()
      await run(process.execPath, [tsc, '-b'], { cwd: folder })
      times.push((systemClock.now() - begin) / 1000)
      if (!existsSync(join(folder, 'dist/main.js'))) throw new Error('nothing was compiled')
    }
    return median(times)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
