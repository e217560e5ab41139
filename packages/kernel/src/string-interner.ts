// pure: assigns small numbers to strings while the strings are in use

export interface StringInterner {
  /** Returns the string's number and counts one more user of it. */
  take(text: string): number
  /** Counts one user less; without users, the number is reused for another string. */
  drop(number: number): void
  /** The number of strings in use. */
  count(): number
}

export function createStringInterner(): StringInterner {
  const numbers = new Map<string, number>()
  const texts: string[] = []
  const users: number[] = []
  const free: number[] = []

  return {
    take: (text) => {
      const known = numbers.get(text)
      if (known !== undefined) {
        users[known] = (users[known] as number) + 1
        return known
      }
      const number = free.pop() ?? texts.length
      numbers.set(text, number)
      texts[number] = text
      users[number] = 1
      return number
    },
    drop: (number) => {
      const left = (users[number] as number) - 1
      users[number] = left
      if (left > 0) return
      numbers.delete(texts[number] as string)
      free.push(number)
    },
    count: () => numbers.size,
  }
}
