/** Freezes a JSON value and all in it. Not recursive: its depth may be a server's choice. */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (typeof part !== 'object' || part === null) continue
    Object.freeze(part)
    for (const child of Object.values(part)) if (typeof child === 'object' && child !== null) open.push(child)
  }
  return value
}
