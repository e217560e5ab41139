import { defineScript, type Reply } from '../../connection/script.js'

export interface ReadLobby {
  readonly version: number
  readonly json: string
}

const readLobby = (reply: Reply): ReadLobby | undefined => {
  if (reply === null) return undefined
  const [head, json] = reply as readonly [string, string]
  return { version: Number.parseInt(head, 10), json }
}

/**
 * Reads a lobby.
 * Keys: head, body. Arguments: id. Answer: head and JSON, or nothing.
 */
export const READ = defineScript({
  name: 'lobbies.get',
  kind: 'read',
  lua: `
local head, json = redis.call('HGET', KEYS[1], ARGV[1]), redis.call('HGET', KEYS[2], ARGV[1])
return head and json and {head, json}
`,
  read: readLobby,
})

/**
 * Reads the lobby that has a code.
 * Keys: head, body, codes. Arguments: code. Answer: head and JSON, or nothing.
 */
export const READ_BY_CODE = defineScript({
  name: 'lobbies.getByCode',
  kind: 'read',
  lua: `
local id = redis.call('HGET', KEYS[3], ARGV[1])
if not id then return nil end
local head, json = redis.call('HGET', KEYS[1], id), redis.call('HGET', KEYS[2], id)
return head and json and {head, json}
`,
  read: readLobby,
})
