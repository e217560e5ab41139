// pure: comparisons of numbers

export type Operator = '=' | '!=' | '<' | '<=' | '>' | '>='

export function compares(one: number, operator: Operator, other: number): boolean {
  switch (operator) {
    case '=':
      return one === other
    case '!=':
      return one !== other
    case '<':
      return one < other
    case '<=':
      return one <= other
    case '>':
      return one > other
    case '>=':
      return one >= other
  }
}
