// Collects the licences of the libraries in a bundle. They require that their text accompanies the library.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const RULE = `\n${'-'.repeat(72)}\n\n`

/**
 * Returns the texts of the licences. Each follows a line with name, version and licence of the library.
 * @param files paths of the bundled files @throws if a library has no licence
 */
export async function licencesOf(files) {
  const folders = files.flatMap((file) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  const texts = [...new Set(folders)].toSorted().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    if (license === undefined) throw new Error(`${name} has no licence`)
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one))
    // Some libraries have no licence text, and name their licence only in the manifest.
    const text = file === undefined ? license : await readFile(join(folder, file), 'utf8')
    return `${name} ${version}, ${license}\n\n${text.trim()}\n`
  })
  return (await Promise.all(texts)).join(RULE)
}

/** Returns the libraries in a text of `licencesOf`. @throws if the text has another format */
export const bundledIn = (text) =>
  text.split(RULE).map((part) => {
    const [, name, version, license] = /^(\S+) (\S+), (.+)\n/.exec(part) ?? []
    if (license === undefined) throw new Error(`a bundled library is not named: ${part.slice(0, 80)}`)
    return { name, version, license }
  })
