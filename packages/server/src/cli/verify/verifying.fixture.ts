import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { runProgram } from '../program.js'
import { terminalOf } from '../terminal.js'
import { BOT, byHand, type Fault } from './by-hand.fixture.js'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

export function studio(fault: Fault = 'none'): string {
  const folder = mkdtempSync(join(tmpdir(), 'muster-verify-'))
  folders.push(folder)
  writeFileSync(join(folder, 'server.mjs'), byHand(fault))
  writeFileSync(join(folder, 'bot.mjs'), BOT)
  return folder
}

/** Runs the command in a folder. */
export async function verify(folder: string, ...args: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []]
  const stream = (lines: string[]) => ({ isTTY: false, write: (text: string) => lines.push(text) > 0 })
  const program = { stdout: stream(out), stderr: stream(err), env: process.env, cwd: () => folder }
  const code = await runProgram(['verify-server', ...args], terminalOf(program))
  return { code, out: out.join(''), err: err.join('') }
}

export interface Shown {
  readonly failed: number
  readonly lines: readonly { readonly outcome: string; readonly name: string }[]
}
