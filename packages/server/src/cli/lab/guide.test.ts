import { Command } from 'commander'
import { expect, test } from 'vitest'
import { runProgram } from '../program.js'
import { terminalOf } from '../terminal.js'
import { addLab, GUIDE } from './lab.js'

const stream = (lines: string[]) => ({ write: (text: string) => lines.push(text) > 0 })

function terminalTo(lines: string[]) {
  return terminalOf({ stdout: stream(lines), stderr: stream(lines), env: {}, cwd: () => '/' })
}

test('muster lab without a command prints its commands and their usual order', async () => {
  const lines: string[] = []
  await runProgram(['lab'], terminalTo(lines))
  expect(lines.join('')).toContain(GUIDE)
})

test('the guide of muster lab names only existing commands and options', () => {
  const lab = addLab(new Command('muster'), terminalTo([]), () => {})
  const steps = [...GUIDE.matchAll(/muster lab (\w+)(.*)/g)]
  expect(steps.map(([, name]) => name)).toEqual(['crowd', 'run', 'report', 'tune', 'test'])
  for (const [, name = '', rest = ''] of steps) {
    const command = lab.commands.find((one) => one.name() === name)
    for (const [option] of rest.matchAll(/--[\w-]+/g))
      expect(command?.options.map(({ long }) => long)).toContain(option)
  }
  expect(lab.commands.map((command) => command.name()).toSorted()).toEqual(steps.map(([, name]) => name).toSorted())
})
