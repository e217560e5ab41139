import { execFile } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'

const run = promisify(execFile)

export interface Installing {
  /** Packages left out, by the names of their tarballs. Default: none. */
  readonly without?: RegExp | undefined
  /** Default: they are installed too. */
  readonly omitOptional?: boolean | undefined
}

/** Installs the packages as published by npm, into an empty folder or one of a project. */
export async function installIn(folder: string, { without, omitOptional = false }: Installing = {}) {
  const tarballs = readdirSync(inject('tarballs')).filter((file) => without?.test(file) !== true)
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest)) writeFileSync(manifest, JSON.stringify({ private: true }))
  const files = tarballs.map((file) => join(inject('tarballs'), file))
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', ...(omitOptional ? ['--omit=optional'] : [])]
  await run('npm', ['install', ...flags, ...files], { cwd: folder })
}
