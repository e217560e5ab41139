// Collects the licences of the libraries in a bundle, which ask to go with it.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const RULE = `\n${'-'.repeat(72)}\n\n`

/**
 * The texts of the licences, each after a line with name, version and licence of the library.
 * @param files paths of what was bundled @throws if a library has none
 */
export async function licencesOf(files) {
  const folders = files.flatMap((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  const texts = [...new Set(folders)].toSorted().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    if (license === undefined) throw new Error(`${name} has no licence`)
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one))
    // Some libraries have no text of their own, and name their licence in the manifest alone.
    const text = file === undefined ? license : await readFile(join(folder, file), 'utf8')
    return `${name} ${version}, ${license}\n\n${text.trim()}\n`
  })
  return (await Promise.all(texts)).join(RULE)
}

/** The libraries that `licencesOf` has collected. @throws if the text is not one of its own */
export const bundledIn = (text) =>
  text.split(RULE).map((part) => {
    const [, name, version, license] = /^(\S+) (\S+), (.+)\n/.exec(part) ?? []
    if (license === undefined) throw new Error(`a bundled library is not named: ${part.slice(0, 80)}`)
    return { name, version, license }
  })
