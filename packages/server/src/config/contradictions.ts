import { didYouMean } from '@muster/core/validation'
import type { Queue } from '@muster/matchmaker'
import type { ConfigFile } from './schema/file.js'

/** Something wrong or doubtful at a path of the file. */
export interface Remark {
  readonly path: readonly string[]
  readonly message: string
}

interface Parts {
  readonly file: ConfigFile
  readonly queues: readonly Queue[]
}

/** Finds sections that contradict one another, each of which is valid by itself. */
export function contradictionsIn({ file, queues }: Parts): Remark[] {
  return [...ofAlgorithms(file), ...ofKeys(file), ...ofWebhook(file), ...ofLobbies(file, queues)]
}

function ofAlgorithms({ auth: { jwt } }: ConfigFile): Remark[] {
  if (jwt?.algorithms === undefined) return []
  const isShared = jwt.secret !== undefined
  const wrong = jwt.algorithms.findIndex((algorithm) => algorithm.startsWith('HS') !== isShared)
  if (wrong === -1) return []
  const message = isShared ? 'needs public keys (jwks), not a secret' : 'needs a shared secret, not public keys (jwks)'
  return [{ path: ['auth', 'jwt', 'algorithms', String(wrong)], message }]
}

function ofKeys({ auth: { keys } }: ConfigFile): Remark[] {
  const names = keys.map(({ name }) => name)
  return names.flatMap((name, index) => {
    const first = names.indexOf(name)
    return first === index
      ? []
      : [{ path: ['auth', 'keys', String(index), 'name'], message: `is the name of auth.keys.${first} too` }]
  })
}

function ofWebhook({ webhook, listen }: ConfigFile): Remark[] {
  if (webhook.enabled !== true || listen.publicUrl !== undefined) return []
  return [{ path: ['webhook', 'enabled'], message: 'needs listen.publicUrl, at which the service finds this program' }]
}

function ofLobbies({ lobbies }: ConfigFile, queues: readonly Queue[]): Remark[] {
  const names = queues.map(({ name }) => name)
  if (lobbies.startAs === 'relay') {
    return lobbies.queue === undefined
      ? []
      : [{ path: ['lobbies', 'queue'], message: 'is only used with startAs: match' }]
  }
  if (lobbies.queue === undefined)
    return [{ path: ['lobbies', 'startAs'], message: 'needs lobbies.queue, the queue that the players then wait in' }]
  if (names.includes(lobbies.queue)) return []
  return [{ path: ['lobbies', 'queue'], message: `is none of the queues${didYouMean(lobbies.queue, names)}` }]
}
