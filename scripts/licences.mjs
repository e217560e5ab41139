// Collects the licences of the libraries in a bundle, which ask to go with it.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The texts of the licences. @param files paths of what was bundled @throws if a library has none */
export async function licencesOf(files) {
  const folders = files.flatMap((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  const texts = [...new Set(folders)].toSorted().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one))
    // Some libraries have no text of their own, and name their licence in the manifest alone.
    const text = file === undefined ? license : await readFile(join(folder, file), 'utf8')
    if (text === undefined) throw new Error(`${name} has no licence`)
    return `${name} ${version}\n\n${text.trim()}\n`
  })
  return (await Promise.all(texts)).join(`\n${'-'.repeat(72)}\n\n`)
}
