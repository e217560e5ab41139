/**
 * `pnpm engines`: replays the transcripts in every language of the engines. Prints one line for each language.
 * Languages that cannot run on this machine are skipped, and the last line says so.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'muster-engines-'))
const TRANSCRIPTS = [
  ['client', 'transcript.jsonl'],
  ['client', 'odd-answers.jsonl'],
  ['server', 'server-transcript.jsonl'],
  ['server', 'odd-orders.jsonl'],
]

/** Runs a program. Throws with the end of its output if it fails, or if it continues after a script error. */
const run = (program, given, env = process.env) => {
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000, maxBuffer: 2 ** 26, env }
  const { status, stdout, stderr, error } = spawnSync(program, given, options)
  if (status === 0 && !stderr.includes('SCRIPT ERROR')) return stdout
  throw new Error(`${[program, ...given].join(' ')}: ${error?.message ?? stderr.slice(-2000)}`)
}
const filesIn = (path) => readdirSync(join(here, path)).map((name) => join(here, path, name))

const CPP_FLAGS = ['-std=c++17', '-fno-exceptions', '-fno-rtti', '-Wall', '-Wextra', '-Wshadow', '-Werror']
/**
 * Environment variables of a player whose language writes 0.5 as 0,5. Without `localedef`, programs run as in English.
 */
const GERMAN = { ...process.env, LOCPATH: folder, LC_ALL: 'de_DE.UTF-8' }
const cpp = (compiler) => ({
  name: `C++17 by ${compiler}`,
  tools: [compiler],
  build: () => {
    spawnSync('localedef', ['-i', 'de_DE', '-f', 'UTF-8', join(folder, GERMAN.LC_ALL)], { stdio: 'ignore' })
    run(compiler, [...CPP_FLAGS, join(here, 'cpp/test/replay.cpp'), '-o', join(folder, compiler)])
  },
  replay: (kind, path) => run(join(folder, compiler), [kind, path], GERMAN),
})

const languages = [
  cpp('g++'),
  cpp('clang++'),
  {
    name: 'C# 7 by mono',
    tools: ['mcs', 'mono'],
    build: () => {
      const files = filesIn('unity/Runtime')
      const bare = files.find((path) => !path.endsWith('.meta') && !files.includes(`${path}.meta`))
      if (bare !== undefined) throw new Error(`Unity ignores ${bare}, which has no .meta`)
      const sources = files.filter((path) => path.endsWith('.cs'))
      const output = `-out:${join(folder, 'replay.exe')}`
      run('mcs', ['-langversion:7.2', '-warnaserror', output, ...sources, join(here, 'unity/Tests~/Replay.cs')])
    },
    replay: (kind, path) => run('mono', [join(folder, 'replay.exe'), kind, path]),
  },
  {
    name: 'GDScript by godot3-server',
    tools: ['godot3-server'],
    // The files that also work with Godot 3, as a separate project.
    build: () => {
      cpSync(join(here, 'godot'), join(folder, 'godot'), { recursive: true })
      writeFileSync(join(folder, 'godot/project.godot'), 'config_version=4\n')
    },
    replay: (kind, path) => run('godot3-server', ['--path', join(folder, 'godot'), '-s', 'test/replay.gd', kind, path]),
  },
]

const exists = (tool) => {
  try {
    execFileSync('which', [tool], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const skipped = []
try {
  for (const { name, tools, build, replay } of languages) {
    const missing = tools.filter((tool) => !exists(tool))
    if (missing.length > 0) {
      skipped.push(`${name} (no ${missing.join(', no ')})`)
      continue
    }
    try {
      build()
      const counts = TRANSCRIPTS.map(([kind, file]) => {
        const lines = /^\d+$/m.exec(replay(kind, join(here, file)))?.[0]
        if (lines === undefined) throw new Error(`does not say how many lines of ${file} it replayed`)
        return `${lines} lines of ${file}`
      })
      process.stdout.write(`${name}: replays ${counts.join(', ')}\n`)
    } catch (error) {
      process.stdout.write(`${name}: ${error.message}\n`)
      process.exitCode = 1
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}
if (skipped.length > 0) process.stdout.write(`skipped: ${skipped.join(', ')}\n`)
