import type { RedisServer } from '@muster/redis-server'

/** Returns the CPU microseconds that the Redis process has used. */
export async function redisCpuUs(server: RedisServer): Promise<number> {
  const info = await server.ask('INFO cpu')
  return (numberIn(info, 'used_cpu_user') + numberIn(info, 'used_cpu_sys')) * 1e6
}

export async function redisBytes(server: RedisServer): Promise<number> {
  return numberIn(await server.ask('INFO memory'), 'used_memory')
}

const numberIn = (info: string, name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1])
