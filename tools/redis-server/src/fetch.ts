import { execFileSync } from 'node:child_process'
import { fetchPackage } from './debian-package.js'
import { cacheFolder, commandOf, findRedisServer, type RedisBinary, unpackedIn } from './find.js'

/**
 * Fetches the redis-server of this system's package archive into the user's cache folder. This needs no root, installs
 * nothing, and starts no service. Blocks for some five seconds.
 * @returns a text with the version, and the command that starts the server
 * @throws {Error} whose message says why it could not be fetched
 */
export function fetchRedisServer(): string {
  const found = findRedisServer()
  if (found !== undefined) return sayHowToStart(found)
  const folder = cacheFolder()
  fetchPackage({
    name: 'redis-server',
    beside: /^(?:redis|lib|lua)/,
    folder,
    try: (unpacked) => void versionOf(binaryIn(unpacked)),
  })
  return sayHowToStart(binaryIn(folder))
}

function binaryIn(folder: string): RedisBinary {
  const binary = unpackedIn(folder)
  if (binary === undefined) throw new Error('the package redis-server holds no usr/bin/redis-server')
  return binary
}

const sayHowToStart = (binary: RedisBinary): string =>
  `redis-server ${versionOf(binary)}. Start it by:\n${commandOf(binary)}`

const versionOf = ({ path, env }: RedisBinary): string => {
  const text = execFileSync(path, ['--version'], { encoding: 'utf8', env: { ...process.env, ...env } })
  return /v=(\S+)/.exec(text)?.[1] ?? text.trim()
}
