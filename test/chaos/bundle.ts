import { build } from 'esbuild'

/**
 * Bundles programs into `<name>.mjs` in a folder, like `bundle.mjs` of the server does for a release, but neither
 * minified nor with undici. Node.js starts a bundle with half of the CPU time of its modules. The folder is below a
 * package's folder, where the native module that no bundle contains is installed.
 *
 * @param entryPoints files by the name of the program
 * @param conditions further conditions of `exports` in manifests
 */
export async function bundle(
  entryPoints: Readonly<Record<string, string>>,
  outdir: string,
  conditions: readonly string[] = [],
): Promise<void> {
  await build({
    entryPoints: { ...entryPoints },
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: [...conditions],
    external: ['koffi', 'undici'],
    // Libraries in CommonJS require Node's own modules.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
  })
}
