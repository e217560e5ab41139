// pure: a graph whose edges have costs

/** Undirected edges between the vertices 0 … `vertices` − 1. No edge joins a vertex to itself. */
export interface Graph {
  readonly vertices: number
  /** The two ends of each edge, one after the other: edge `e` joins `ends[2e]` and `ends[2e + 1]`. */
  readonly ends: Int32Array
  /** The cost of each edge: whole numbers, so that sums are exact. */
  readonly costs: Float64Array
}

/**
 * The sides of edges at each vertex: those of vertex `v` are `sides[first[v]]` … `sides[first[v + 1] − 1]`. A side is
 * named by the far end: side 2e leads to `ends[2e]`, side 2e + 1 to `ends[2e + 1]`, so `side ^ 1` leads back.
 */
export interface Sides {
  readonly first: Int32Array
  readonly sides: Int32Array
}

export function sidesOf({ vertices, ends }: Graph): Sides {
  const first = new Int32Array(vertices + 1)
  for (const vertex of ends) first[vertex + 1] = (first[vertex + 1] as number) + 1
  for (let vertex = 0; vertex < vertices; vertex++)
    first[vertex + 1] = (first[vertex + 1] as number) + (first[vertex] as number)
  const next = first.slice()
  const sides = new Int32Array(ends.length)
  for (let side = 0; side < ends.length; side++) {
    const from = ends[side ^ 1] as number
    sides[next[from] as number] = side
    next[from] = (next[from] as number) + 1
  }
  return { first, sides }
}
