import { expect, test } from 'vitest'
import { type Container, type ContainerSpec, launchProcess } from './launch-process.js'

const spec = (env: Readonly<Record<string, string>> = {}): ContainerSpec => ({
  request_id: 'a1b2c3',
  image: 'registry/studio/server:1',
  command: null,
  arguments: null,
  env,
  ports: [],
})

/** Runs JavaScript source code as a container. */
async function run(script: string, env?: Readonly<Record<string, string>>, outputLimit?: number): Promise<Container> {
  const container = await launchProcess(process.execPath, ['-e', script], { outputLimit })(spec(env))
  if (container === undefined) throw new Error('not launched')
  return container
}

/** Resolves once the container's output contains the text. */
async function written(container: Container, text: string) {
  await expect.poll(container.logs, { interval: 10 }).toContain(text)
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a container process gets the variables, and both outputs are in the logs', async () => {
  const container = await run(
    'console.log("out", process.env.SERVICE_REQUEST_ID); console.error("err"); process.exitCode = 7',
    {
      SERVICE_REQUEST_ID: 'a1b2c3',
    },
  )
  expect(await container.exited).toBe(7)
  expect(container.logs()).toContain('out a1b2c3\n')
  expect(container.logs()).toContain('err\n')
})

test('variables that could run other code are withheld from a container process, and the log reports it', async () => {
  const script = 'console.log("ran", process.env.PATH !== "/evil", process.env.NODE_OPTIONS, process.env.MODE)'
  const variables = { NODE_OPTIONS: '--require=/evil.js', PATH: '/evil', MODE: 'duel' }
  const container = await run(script, variables)
  expect(await container.exited).toBe(0)
  expect(container.logs()).toContain(
    'emulator: withheld from this local process: NODE_OPTIONS, PATH (see passVariables)\n',
  )
  expect(container.logs()).toContain('ran true undefined duel\n')

  const launch = launchProcess(process.execPath, ['-e', script], { passVariables: ['NODE_OPTIONS'] })
  const trusting = await launch(spec({ NODE_OPTIONS: '--title=x' }))
  expect(await trusting?.exited).toBe(0)
  expect(trusting?.logs()).toMatch(/^ran true --title=x /)
})

test('the container log keeps only the last part of the output', async () => {
  const container = await run('for (let i = 0; i < 20000; i++) console.log("line", i)', {}, 100)
  await container.exited
  expect(container.logs()).toHaveLength(100)
  expect(container.logs()).toMatch(/line 19998\nline 19999\n$/)
})

test('a container process can end by itself within the grace period of a stop', async () => {
  const container = await run(
    'process.on("SIGTERM", () => { console.log("bye"); process.exit(0) }); ' +
      'setInterval(() => {}, 1000); console.log("up")',
  )
  await written(container, 'up')
  container.stop(60_000)
  expect(await container.exited).toBe(0)
  expect(container.logs()).toBe('up\nbye\n')
})

test('a container stop without a grace period kills a process that would end by itself', async () => {
  const container = await run(
    'process.on("SIGTERM", () => { console.log("bye"); process.exit(0) }); ' +
      'setInterval(() => {}, 1000); console.log("up")',
  )
  await written(container, 'up')
  container.stop(0)
  expect(await container.exited).toBe(137)
  expect(container.logs()).toBe('up\n')
})

test('each line of container output is reported as it arrives, even a last line without a line break', async () => {
  const lines: string[] = []
  const launch = launchProcess(
    process.execPath,
    ['-e', 'console.log("one\\ntwo"); process.stderr.write("thr"); process.stderr.write("ee")'],
    { onLine: (line, { request_id: id }) => lines.push(`${id} ${line}`) },
  )
  const container = await launch(spec())
  await container?.exited
  expect(lines.toSorted()).toEqual(['a1b2c3 one', 'a1b2c3 three', 'a1b2c3 two'])
})

test('a container process that does not end is killed after the grace period', async () => {
  const container = await run(
    'process.on("SIGTERM", () => console.log("no")); setInterval(() => {}, 1000); console.log("up")',
  )
  await written(container, 'up')
  container.stop(200)
  expect(await container.exited).toBe(128 + 9)
  expect(container.logs()).toBe('up\nno\n')
})

test('the children of a container process end with it', async () => {
  const container = await run(
    'const { spawn } = require("node:child_process");' +
      'const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });' +
      'child.once("spawn", () => { console.log("child", child.pid, "end"); process.exit(3) })',
  )
  expect(await container.exited).toBe(3)
  const pid = Number(/child (\d+) end/.exec(container.logs())?.[1])
  expect(pid).toBeGreaterThan(0)
  await expect.poll(() => isAlive(pid), { interval: 10 }).toBe(false)
})

test('launchProcess fails for an unknown command and leaves no listener', async () => {
  const listeners = process.listenerCount('exit')
  await expect(launchProcess('no-such-command-here')(spec())).rejects.toThrow(/ENOENT/)
  expect(process.listenerCount('exit')).toBe(listeners)
})

test('launchProcess refuses a wrong outputLimit by name', () => {
  expect(() => launchProcess('node', [], { outputLimit: 0 })).toThrow(
    'outputLimit must be an integer of at least 1, not 0',
  )
})
