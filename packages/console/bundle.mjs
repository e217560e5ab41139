// Bundles the console's page: everything it needs is in dist/pages, and nothing is loaded from elsewhere.
import { copyFile, mkdir, stat, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { licencesOf } from '../../scripts/licences.mjs'

/** Maximum size of the script in bytes, so that the page opens quickly even on a slow line. */
const MOST = 250_000

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Resolves `@import 'base-of-all-pages'` in a style sheet to the base rules in src/parts, which are TypeScript. */
const baseOfAllPages = {
  name: 'base-of-all-pages',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^base-of-all-pages$/ }, ({ path }) => ({ path, namespace: 'parts' }))
    onLoad({ filter: /.*/, namespace: 'parts' }, async () => {
      const entryPoints = [here('src/parts/base-style.ts')]
      const { outputFiles } = await build({ entryPoints, bundle: true, write: false, format: 'esm' })
      const module = `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
      return { contents: (await import(module)).baseStyle, loader: 'css' }
    })
  },
}

await mkdir(here('dist/pages'), { recursive: true })
const { metafile } = await build({
  entryPoints: [
    { in: here('src/app/main.tsx'), out: 'console' },
    { in: here('src/app/styles/console.css'), out: 'console' },
  ],
  outdir: here('dist/pages'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  conditions: ['@muster/source'],
  metafile: true,
  logLevel: 'warning',
  plugins: [baseOfAllPages],
})
await writeFile(here('dist/pages/licences.txt'), await licencesOf(Object.keys(metafile.inputs)))
await copyFile(here('src/app/index.html'), here('dist/pages/index.html'))
await copyFile(here('src/app/icon.svg'), here('dist/pages/icon.svg'))

const sizes = await Promise.all(
  ['console.js', 'console.css'].map(async (file) => ({ file, size: (await stat(here(`dist/pages/${file}`))).size })),
)
process.stdout.write(`${sizes.map(({ file, size }) => `${file} ${(size / 1000).toFixed(1)} kB`).join(', ')}\n`)
if (sizes[0].size > MOST) {
  process.stderr.write(`console.js is over ${MOST / 1000} kB\n`)
  process.exitCode = 1
}
