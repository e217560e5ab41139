// Bundles the program for its package: files that need no library, with the console's page beside them. Modules that
// are imported lazily get files of their own, because Node.js compiles a whole file when it loads it.
// Usage: node bundle.mjs [folder]. Default: dist itself. The bundle then replaces the modules in dist; the next `tsc
// -b` builds them again.
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { licencesOf } from '../../scripts/licences.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const dist = here('dist')
const into = resolve(process.argv[2] ?? dist)

/** A CommonJS library that is imported by `import('undici')` has named exports, as in Node.js. */
const namesOfUndici = {
  name: 'names-of-undici',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^undici$/ }, ({ path, kind, resolveDir }) =>
      kind === 'dynamic-import' ? { path, namespace: 'names', pluginData: resolveDir } : undefined,
    )
    onLoad({ filter: /.*/, namespace: 'names' }, async ({ path, pluginData: resolveDir }) => {
      const names = Object.keys(await import(path)).filter((name) => !['default', 'module.exports'].includes(name))
      return { contents: `export { ${names.join(', ')} } from '${path}'`, resolveDir }
    })
  },
}

const { metafile, outputFiles } = await build({
  // All entry points become files of one folder, because the modules find other files relative to their own.
  entryPoints: {
    main: here('dist/cli/main.js'),
    index: here('dist/index.js'),
    'trial-worker': here('dist/console/trials/trial-worker.js'),
    'job-worker': here('../lab/dist/jobs/job-worker.js'),
  },
  outdir: into,
  bundle: true,
  splitting: true,
  write: false,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  minify: true,
  legalComments: 'none',
  sourcemap: true,
  sourcesContent: false,
  // A native module. npm installs the build for the user's machine.
  external: ['koffi'],
  // Libraries in CommonJS require Node's own modules.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  metafile: true,
  plugins: [namesOfUndici],
  logLevel: 'warning',
})

if (into === dist) {
  // The bundle replaces the compiled modules. Their build record is deleted too, so that the compiler builds them
  // again.
  const built = await readdir(dist, { recursive: true })
  const bundled = built.filter((file) => /\.js(\.map)?$/.test(file) && !file.startsWith('pages'))
  for (const file of [...bundled, '.tsbuildinfo']) await rm(join(dist, file), { force: true })
}

await mkdir(join(into, 'cli'), { recursive: true })
for (const { path, contents } of outputFiles) await writeFile(path, contents)
await writeFile(join(into, 'cli/main.js'), "#!/usr/bin/env node\nimport '../main.js'\n")
await cp(here('../console/dist/pages'), join(into, 'pages'), { recursive: true })
await writeFile(join(into, 'licences.txt'), await licencesOf(Object.keys(metafile.inputs)))
