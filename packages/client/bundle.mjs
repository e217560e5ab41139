// Bundles the client into one file for a script tag: `Muster.createMuster({ url })`.
import { readFile, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Maximum size in bytes of the gzipped file. */
const MOST = 11_000

const outfile = here('dist/muster.global.js')
/** Everything that a page gets from a script tag: the client, lobbies and servers. */
const contents = ['index', 'lobbies', 'servers'].map((name) => `export * from './${name}.js'`).join('\n')
await build({
  stdin: { contents, resolveDir: here('dist') },
  outfile,
  bundle: true,
  minify: true,
  format: 'iife',
  globalName: 'Muster',
  target: 'es2020',
  sourcemap: true,
})
const { size } = await stat(outfile)
const gzipped = gzipSync(await readFile(outfile)).length
if (gzipped > MOST) throw new Error(`${outfile} has ${gzipped} bytes in gzip, over ${MOST}`)
process.stdout.write(`muster.global.js: ${size} bytes, ${gzipped} in gzip\n`)
