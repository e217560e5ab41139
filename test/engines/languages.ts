/** Compiles and starts the programs of engines/ that connect to a running Muster. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const engines = fileURLToPath(new URL('../../engines/', import.meta.url))
export const folder = mkdtempSync(join(tmpdir(), 'muster-loopback-'))

export interface Language {
  readonly name: string
  readonly runsHere: boolean
  /** True if the engine has a relay peer. */
  readonly hasRelay: boolean
  /** Compiles the program. */
  readonly build: () => void
  readonly command: readonly [program: string, ...given: string[]]
}

const compile = (compiler: string, given: readonly string[]) =>
  void execFileSync(compiler, given, { stdio: ['ignore', 'inherit', 'inherit'] })

/** True if all of these commands run on this machine. Otherwise prints one line about what is skipped. */
function has(name: string, ...commands: readonly (readonly [program: string, ...given: string[]])[]): boolean {
  try {
    for (const [program, ...given] of commands) execFileSync(program, given, { stdio: 'ignore' })
    return true
  } catch {
    const wanted = commands.map((command) => command.join(' ')).join(' and ')
    process.stderr.write(`skipped: ${name} meets no Muster, for want of ${wanted}\n`)
    return false
  }
}

const CPP_FLAGS = ['-std=c++17', '-fno-exceptions', '-fno-rtti', '-Wall', '-Wextra', '-Wshadow', '-Werror']
const cpp = (name: string, program: string, flags: readonly string[]): Language => ({
  name,
  hasRelay: false,
  runsHere: has(name, ['g++', '--version'], ['curl-config', '--version']),
  build: () => {
    const source = join(engines, 'cpp/test/loopback.cpp')
    compile('g++', [...CPP_FLAGS, ...flags, source, '-lcurl', '-o', join(folder, program)])
  },
  command: [join(folder, program)],
})

const include = (...paths: string[]) => paths.map((path) => `-I${join(engines, path)}`)

const sharpSources = readdirSync(join(engines, 'unity/Runtime'))
  .filter((name) => name.endsWith('.cs'))
  .map((name) => join(engines, 'unity/Runtime', name))
const sharp = (name: string, program: string, flags: readonly string[], more: readonly string[]): Language => ({
  name,
  hasRelay: true,
  runsHere: has(name, ['mcs', '--version'], ['mono', '--version']),
  build: () => {
    const sources = [...sharpSources, ...['Loopback.cs', ...more].map((file) => join(engines, 'unity/Tests~', file))]
    compile('mcs', ['-langversion:7.2', '-warnaserror', `-out:${join(folder, program)}`, ...flags, ...sources])
  },
  command: ['mono', join(folder, program)],
})

export const languages = [
  cpp('C++ by libcurl', 'loopback', []),
  cpp('C++ by stubs of Unreal', 'unreal', ['-DMUSTER_UNREAL', ...include('unreal/Tests', 'cpp')]),
  sharp('C# by HttpWebRequest', 'loopback.exe', [], []),
  sharp('C# by stubs of Unity', 'unity.exe', ['-d:UNITY_5_3_OR_NEWER'], ['Engine.cs']),
]
