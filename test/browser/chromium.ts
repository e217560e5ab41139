import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'
import { cacheFolder, libraryFolders } from '../../tools/redis-server/src/find.js'

/** Folder of the Chromium that `chromium.setup.ts` downloads. */
export const fetchedFolder = cacheFolder(process.env, 'chromium')

/** Path of Chromium; undefined if this machine has none. */
export const chromiumPath = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  binaryIn(fetchedFolder),
].find((path) => path !== undefined && existsSync(path))

/** Returns the command of a Chromium that was unpacked from Debian packages, with its libraries and fonts. */
export const commandIn = (folder: string) => ({
  path: binaryIn(folder),
  env: { LD_LIBRARY_PATH: libraryFolders(folder).join(delimiter), XDG_DATA_HOME: join(folder, 'usr/share') },
})

function binaryIn(folder: string): string {
  return join(folder, 'usr/lib/chromium/chromium')
}

export function launch(): Promise<Browser> {
  const fetched = commandIn(fetchedFolder)
  return chromium.launch({
    executablePath: chromiumPath as string,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    ...(chromiumPath === fetched.path && { env: { ...(process.env as Record<string, string>), ...fetched.env } }),
  })
}
