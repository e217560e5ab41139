import { InvalidInput } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { read } from '@muster/core/internal'
import { deploySchema, type DeployDefinition } from './deploy.js'

const game: DeployDefinition = { application: 'game', version: '1' }
const checked = (deploy: unknown) => read(deploySchema, deploy, (_, message) => new InvalidInput(message))

test('a deploy definition gets its defaults, even if it was read before', () => {
  const deploy = checked({ ...game, probe: { kind: 'tcp', port: 'game' } })
  expect(deploy).toEqual({
    ...game,
    environment: {},
    hiddenEnvironment: {},
    tags: [],
    requireCachedLocations: false,
    readyTimeoutMs: 180_000,
    maxDurationMs: 86_400_000,
    warmUpMs: 0,
    probe: { kind: 'tcp', port: 'game', payload: 'ping', timeoutMs: 1000, withinMs: 30_000 },
  })
  expect(checked(deploy)).toEqual(deploy)
  expect(checked({ ...game, probe: { kind: 'registration' } }).probe).toEqual({
    kind: 'registration',
    withinMs: 60_000,
  })
})

describe('an invalid deploy', () => {
  test.each<[Record<string, unknown>, string]>([
    [{ application: '' }, 'application'],
    [{ maxDurationMs: 0 }, 'maxDurationMs'],
    [{ joinWithinMs: 0 }, 'joinWithinMs'],
    [{ warmUpMs: -1 }, 'warmUpMs'],
    [{ probe: { kind: 'icmp' } }, 'probe.kind'],
    [{ probe: { kind: 'udp' } }, 'probe.port'],
    [{ probe: { kind: 'udp', port: 'game', withinMs: 0 } }, 'probe.withinMs'],
    [{ probe: { kind: 'registration', url: 'ftp://example.com' } }, 'probe.url'],
    [{ probe: { kind: 'registration', port: 'game' } }, 'probe.port: is not known'],
    [{ environment: { MM_MATCH_ID: 'x' } }, 'environment.MM_MATCH_ID'],
    [{ hiddenEnvironment: { 'A B': 'x' } }, 'hiddenEnvironment.A B'],
    [{ tags: ['mm-mine'] }, 'tags.0'],
    [{ surprise: 1 }, 'surprise: is not known'],
  ])('an invalid deploy definition is refused with the path: %j', (changes, path) => {
    expect(() => checked({ ...game, ...changes })).toThrow(path)
  })

  test('an invalid deploy definition is refused without showing a value that may be a secret', () => {
    const tooLong = { ...game, hiddenEnvironment: { KEY: 'hush'.repeat(2000) } }
    expect(() => checked(tooLong)).toThrow(/^hiddenEnvironment\.KEY: must be at most 4096 bytes of UTF-8$/)
  })
})
