// Bundles the console's page: everything it needs is in dist/pages, and nothing is loaded from elsewhere.
import { copyFile, mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))

await mkdir(here('dist/pages'), { recursive: true })
await build({
  entryPoints: { console: here('src/app/main.tsx') },
  outdir: here('dist/pages'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  conditions: ['@muster/source'],
  legalComments: 'linked',
  logLevel: 'warning',
})
await copyFile(here('src/app/index.html'), here('dist/pages/index.html'))
