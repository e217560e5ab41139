// pure: a graph whose edges have costs; vertices and blossoms of a matching under construction
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
interface Sides {
  readonly first: Int32Array
  readonly sides: Int32Array
}

function sidesOf({ vertices, ends }: Graph): Sides {
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

export const NONE = -1
/** Labels: not reached yet, at an even and at an odd distance from a free vertex, and a mark while paths are traced. */
export const UNREACHED = 0
export const EVEN = 1
export const ODD = 2
export const TRACED = 5

const NOTHING: readonly number[] = []

/**
 * The state of Edmonds' algorithm. A blossom is a cycle of an odd number of nodes that is treated as one node; nodes
 * are vertices (0 … n − 1) or blossoms (n … 2n − 1), which may hold further blossoms. Sides are those of `Sides`.
 */
export class Blossoms {
  readonly graph: Graph
  readonly around: Sides
  readonly vertices: number
  /** For each vertex the side that leads to its partner; NONE for a free vertex. */
  readonly mate: Int32Array
  /** For each node its label, and the side that leads to where it was labelled from; NONE for the root of a tree. */
  readonly label: Int8Array
  readonly labelledBy: Int32Array
  /** For each vertex the outermost node that holds it. */
  readonly outermost: Int32Array
  /** For each node the blossom that holds it directly. */
  readonly parent: Int32Array
  /** For each blossom in use its nodes around the cycle, that of its base first, and the side from each to the next. */
  readonly nodes: (readonly number[])[]
  readonly links: (readonly number[])[]
  /** For each node the vertex that is not matched within it; NONE for blossoms not in use. */
  readonly base: Int32Array
  /** Twice the dual value of each vertex, and the dual value of each blossom. */
  readonly dual: Float64Array
  readonly unused: number[]

  constructor(graph: Graph) {
    const { vertices, costs } = graph
    this.graph = graph
    this.vertices = vertices
    this.around = sidesOf(graph)
    this.mate = new Int32Array(vertices).fill(NONE)
    this.label = new Int8Array(2 * vertices)
    this.labelledBy = new Int32Array(2 * vertices).fill(NONE)
    this.outermost = Int32Array.from({ length: vertices }, (_, vertex) => vertex)
    this.parent = new Int32Array(2 * vertices).fill(NONE)
    this.nodes = Array.from({ length: 2 * vertices }, () => NOTHING)
    this.links = Array.from({ length: 2 * vertices }, () => NOTHING)
    this.base = Int32Array.from({ length: 2 * vertices }, (_, node) => (node < vertices ? node : NONE))
    const least = costs.reduce((lowest, cost) => Math.min(lowest, cost), Infinity)
    this.dual = new Float64Array(2 * vertices).fill(-(least === Infinity ? 0 : least), 0, vertices)
    this.unused = Array.from({ length: vertices }, (_, at) => 2 * vertices - 1 - at)
  }

  endOf(side: number): number {
    return this.graph.ends[side] as number
  }

  /** Twice the slack of an edge: no edge outside of blossoms is below 0, and edges of the matching have 0. */
  slack(edge: number): number {
    const { ends, costs } = this.graph
    return (
      (this.dual[ends[2 * edge] as number] as number) +
      (this.dual[ends[2 * edge + 1] as number] as number) +
      2 * (costs[edge] as number)
    )
  }

  isBlossom(node: number): boolean {
    return node >= this.vertices
  }

  /** The vertices of a node. */
  leaves(node: number, into: number[] = []): number[] {
    if (!this.isBlossom(node)) into.push(node)
    else for (const child of this.nodes[node] as readonly number[]) this.leaves(child, into)
    return into
  }

  /** Where the walk around a blossom from a child to the base begins, which goes over an even number of links. */
  walkFrom(blossom: number, child: number): { at: number; by: 1 | -1 } {
    const nodes = this.nodes[blossom] as readonly number[]
    const at = nodes.indexOf(child)
    return at % 2 === 1 ? { at: at - nodes.length, by: 1 } : { at, by: -1 }
  }

  /** A child of a blossom; positions below 0 count from the end. */
  childAt(blossom: number, at: number): number {
    return (this.nodes[blossom] as readonly number[]).at(at) as number
  }

  /** The side that a walk takes from the child at a position to the next. */
  linkFrom(blossom: number, at: number, by: 1 | -1): number {
    const links = this.links[blossom] as readonly number[]
    return by === 1 ? (links.at(at) as number) : (links.at(at - 1) as number) ^ 1
  }

  /** Exchanges matched and unmatched edges within a blossom, so that a vertex of it becomes its base. */
  rebase(blossom: number, vertex: number): void {
    const { mate } = this
    let child = vertex
    while (this.parent[child] !== blossom) child = this.parent[child] as number
    if (this.isBlossom(child)) this.rebase(child, vertex)
    const start = (this.nodes[blossom] as readonly number[]).indexOf(child)
    const { at: from, by } = this.walkFrom(blossom, child)
    for (let at = from; at !== 0;) {
      at += by
      const side = this.linkFrom(blossom, at, by)
      const one = this.childAt(blossom, at)
      if (this.isBlossom(one)) this.rebase(one, this.endOf(side ^ 1))
      at += by
      const other = this.childAt(blossom, at)
      if (this.isBlossom(other)) this.rebase(other, this.endOf(side))
      mate[this.endOf(side ^ 1)] = side
      mate[this.endOf(side)] = side ^ 1
    }
    this.nodes[blossom] = rotated(this.nodes[blossom] as readonly number[], start)
    this.links[blossom] = rotated(this.links[blossom] as readonly number[], start)
    this.base[blossom] = vertex
  }

  /** Exchanges matched and unmatched edges on the path between two free vertices that an edge closes. */
  augment(edge: number): void {
    const { mate, labelledBy, outermost } = this
    for (const side of [2 * edge, 2 * edge + 1]) {
      let to = side
      let from = this.endOf(side ^ 1)
      for (;;) {
        const node = outermost[from] as number
        if (this.isBlossom(node)) this.rebase(node, from)
        mate[from] = to
        const up = labelledBy[node] as number
        if (up === NONE) break
        const odd = outermost[this.endOf(up)] as number
        const on = labelledBy[odd] as number
        const entry = this.endOf(on ^ 1)
        if (this.isBlossom(odd)) this.rebase(odd, entry)
        mate[entry] = on
        from = this.endOf(on)
        to = on ^ 1
      }
    }
  }
}

const rotated = (list: readonly number[], by: number): number[] => [...list.slice(by), ...list.slice(0, by)]
