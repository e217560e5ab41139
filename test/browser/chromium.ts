import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'

/** Chromium, if this machine has it. */
export const chromiumPath = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => path !== undefined && existsSync(path))

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath as string, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
