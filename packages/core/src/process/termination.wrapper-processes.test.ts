import { expect, test } from 'vitest'
import { wrapperProcesses } from './termination.js'

const wrappers = (...commands: readonly string[]) =>
  wrapperProcesses(commands.map((command, index) => ({ pid: 100 + index, command })))

test.each([
  [
    ['sh -c muster-emulator', 'npm exec muster-emulator', '-bash'],
    [100, 101],
  ],
  [
    ['node /opt/pnpm/bin/pnpm.cjs emulator', "sh -c 'pnpm' emulator", 'npm exec pnpm@10 emulator', 'bash -i'],
    [100, 101, 102],
  ],
  [['/usr/bin/node --no-warnings /usr/lib/npm/bin/npx-cli.js muster-emulator', 'zsh'], [100]],
  [
    ['npm exec muster-emulator', 'sh -c npx muster-emulator & npx vitest', 'npm test', 'bash ./run.sh'],
    [100, 101, 102],
  ],
  [['bunx muster-emulator'], [100]],
])('in the chain of parents %j every process up to the outermost package manager is a wrapper', (commands, pids) => {
  expect(wrappers(...commands)).toEqual(pids)
})

test.each([
  [[]],
  [['-bash', 'sshd']],
  [['bash -c node cli.js', 'code']],
  [['node /home/me/node_modules/.bin/vitest', 'npm test']],
  [['node npm-run-all.js', 'npm start']],
  [['/usr/bin/npmfoo x']],
])('no process in the chain of parents %j is a wrapper', (commands) => {
  expect(wrappers(...commands)).toEqual([])
})
