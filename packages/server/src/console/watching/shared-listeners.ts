import type { EventName, Listener, Matchmaker } from '@muster/matchmaker'

/**
 * Subscribes once to each event, for all parts of the console: thousands of events come each second, and each
 * subscription is guarded by itself.
 */
export function shareListeners(on: Matchmaker['on']): Matchmaker['on'] {
  const shared = new Map<EventName, { readonly listeners: Listener<EventName>[]; readonly end: () => void }>()

  const subscribe = (name: EventName) => {
    const listeners: Listener<EventName>[] = []
    const end = on(name, (event) => {
      for (const listener of listeners) listener(event)
    })
    const made = { listeners, end }
    shared.set(name, made)
    return made
  }

  return (name, listener) => {
    const one = listener as Listener<EventName>
    const { listeners, end } = shared.get(name) ?? subscribe(name)
    listeners.push(one)
    return () => {
      listeners.splice(listeners.indexOf(one), 1)
      if (listeners.length > 0) return
      shared.delete(name)
      end()
    }
  }
}
