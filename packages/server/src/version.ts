import { readFileSync } from 'node:fs'

/**
 * Returns the content of a file beside this package's manifest. @throws the file system's error if it does not exist
 */
export const packageFile = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

/** The version of this package. */
export const version: string = (JSON.parse(packageFile('package.json')) as { readonly version: string }).version
