import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Folders of installed or built files, and hidden folders. */
const SKIPPED = /^(node_modules|dist|\..*)$/

/** Returns the paths of all source files below a folder, relative to the repository's root, with slashes. */
export function filesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.test(entry.name)) return []
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    return entry.isDirectory() ? filesBelow(root, path) : [path]
  })
}
