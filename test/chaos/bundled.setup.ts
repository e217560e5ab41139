import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { bundle } from './bundle.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder with the bundles of this folder's processes and of the program, `main.mjs`. */
    readonly bundles: string
  }
}

const here = fileURLToPath(new URL('.', import.meta.url))
const server = fileURLToPath(new URL('../../packages/server', import.meta.url))

/** Bundles all that the tests start, once: they start some two hundred processes. */
export async function setup(project: TestProject): Promise<() => void> {
  const cache = join(server, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const home = mkdtempSync(join(cache, 'chaos-'))
  const close = () => rmSync(home, { recursive: true })
  // The program reads its version from the manifest above its folder.
  cpSync(join(server, 'package.json'), join(home, 'package.json'))
  const processes = readdirSync(here).filter((file) => file.endsWith('-process.mjs'))
  const entryPoints = Object.fromEntries(processes.map((file) => [file.replace('.mjs', ''), join(here, file)]))
  try {
    await bundle({ ...entryPoints, main: join(server, 'dist/cli/main.js') }, join(home, 'dist'))
  } catch (error) {
    close()
    throw error
  }
  project.provide('bundles', join(home, 'dist'))
  return close
}
