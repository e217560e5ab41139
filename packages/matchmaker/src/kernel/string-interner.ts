// pure: small numbers for texts, as long as somebody uses them

export interface StringInterner {
  /** Its number, and one user more. */
  take(text: string): number
  /** One user less; without any, the number goes to another text. */
  drop(number: number): void
  /** Texts in use. */
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
