import type { RedisConnection } from '../connection/connection.js'
import { followStream, type StreamFollower } from '../stream/follow-stream.js'

/** Tells of changes that any process has made. */
export interface Watchers {
  /** Calls `changed` after every change of the lobby; returns a function that ends this. */
  watch(id: string, changed: () => void): () => void
  close(): void
}

/** Follows the stream of changes from the first watcher on. */
export function createWatchers(redis: RedisConnection, key: string): Watchers {
  const watchers = new Map<string, Set<() => void>>()
  let follower: StreamFollower | undefined
  let isClosed = false

  const tell = (id: string) => {
    for (const changed of watchers.get(id) ?? []) changed()
  }
  const follow = () =>
    followStream({
      redis,
      key,
      onEntries: (entries) => {
        for (const id of new Set(entries.map(([, lobby]) => lobby))) tell(id)
      },
      // Whatever was missed, whoever watches reads it.
      onGap: () => {
        for (const id of watchers.keys()) tell(id)
      },
    })

  return {
    watch: (id, changed) => {
      if (!isClosed) follower ??= follow()
      const listeners = watchers.get(id) ?? new Set()
      watchers.set(id, listeners.add(changed))
      return () => {
        listeners.delete(changed)
        if (listeners.size === 0 && watchers.get(id) === listeners) watchers.delete(id)
      }
    },
    close: () => {
      isClosed = true
      follower?.close()
    },
  }
}
