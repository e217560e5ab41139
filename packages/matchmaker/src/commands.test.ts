import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { COMMANDS } from './commands.js'

/** The sentences of docs/scale-out.md about what a method does and how a process of a partition answers it. */
const SAID: Readonly<Record<string, string>> = {
  'command kept': 'the leader | its effect and its answer are stored: any leader continues from there',
  'command level': 'the leader | its effect is stored. The game server repeats its whole state anyway',
  'command itself': 'Redis | its effect is stored: any leader continues from there',
  'command current': 'the leader | nothing that survives a takeover: repeat the call after one',
  'read current': 'the leader | the result was true when answered, and rests on stored changes only',
  'read itself': 'Redis | the result was true when answered',
  hint: 'the leader | nothing: without the call, Muster learns the same later',
  'at once': 'the process | the result is what the process knows',
}

test('docs/scale-out.md lists every RPC method of a partition, and what its answer promises', () => {
  const methods = new Map<string, string[]>(Object.keys(SAID).map((key) => [key, []]))
  for (const [name, [does, answered]] of Object.entries(COMMANDS)) {
    if (answered === 'none' || name === 'learnedWaits') continue
    const key = `${does} ${answered}` in SAID ? `${does} ${answered}` : answered
    methods.get(key)?.push(`\`${name}\``)
  }
  const rows = Array.from(methods, ([key, names]) => `| ${names.join(', ')} | ${SAID[key]} |`)
  const document = readFileSync(fileURLToPath(new URL('../../../docs/scale-out.md', import.meta.url)), 'utf8')
  const [, table = ''] = document.split('| method | decided by | its answer promises |\n|---|---|---|\n')
  expect(table.split('\n').slice(0, rows.length)).toEqual(rows)
})
