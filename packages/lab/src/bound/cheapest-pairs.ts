// pure: the cheapest matching with a given number of pairs
/** Undirected edges between the vertices 0 … `vertices` − 1. No edge joins a vertex to itself. */
export interface Graph {
  readonly vertices: number
  /** The ends of all edges in one list: edge `e` joins the vertices `ends[2e]` and `ends[2e + 1]`. */
  readonly ends: Int32Array
  /** The cost of each edge. All are whole numbers, so that sums are exact. */
  readonly costs: Float64Array
}

const NONE = -1
/** Labels of nodes: not reached yet, or at an even or an odd distance from a free vertex. */
const UNREACHED = 0
const EVEN = 1
const ODD = 2

const NOTHING: readonly number[] = []

/**
 * A matching by Edmonds' algorithm. A blossom is a cycle of an odd number of nodes that is treated as one node. Nodes
 * are vertices (0 … n − 1) or blossoms (n … 2n − 1). A blossom may contain further blossoms. A side of an edge is named
 * by the end to which it leads: side 2e leads to `ends[2e]` and side 2e + 1 to `ends[2e + 1]`. So `side ^ 1` leads
 * back.
 */
class BlossomMatching {
  readonly #graph: Graph
  /** For each vertex, the sides that lead away from it. */
  readonly #around: readonly (readonly number[])[]
  /** For each vertex, the side that leads to its partner; NONE for a free vertex. */
  readonly mate: Int32Array
  /** Twice the dual value of each vertex, and the dual value of each blossom. */
  readonly dual: Float64Array
  /**
   * For each node, its label in `#label`. `#labelledBy` is the side that leads to the node from which it was labelled;
   * NONE for the root of a tree.
   */
  readonly #label: Int8Array
  readonly #labelledBy: Int32Array
  /** For each vertex, the outermost node that contains it. */
  readonly #outermost: Int32Array
  /** For each node, the blossom that directly contains it; NONE if it is outermost. */
  readonly #parent: Int32Array
  /**
   * For each blossom in use: `#nodes` are its nodes around the cycle, beginning with the one that contains its base.
   * `#links` are the sides from each node to the next.
   */
  readonly #nodes: (readonly number[])[]
  readonly #links: (readonly number[])[]
  /** For each node, the vertex that is not matched with another vertex of the node; NONE for unused blossoms. */
  readonly #base: Int32Array
  readonly #unused: number[]
  /** Even vertices whose edges have not been examined yet. */
  readonly #queue: number[] = []

  constructor(graph: Graph) {
    const { vertices, ends, costs } = graph
    this.#graph = graph
    const around = Array.from({ length: vertices }, (): number[] => [])
    for (const side of ends.keys()) around[ends[side ^ 1] as number]?.push(side)
    this.#around = around
    this.mate = new Int32Array(vertices).fill(NONE)
    const least = costs.reduce((lowest, cost) => Math.min(lowest, cost), Infinity)
    this.dual = new Float64Array(2 * vertices).fill(-(least === Infinity ? 0 : least), 0, vertices)
    this.#label = new Int8Array(2 * vertices)
    this.#labelledBy = new Int32Array(2 * vertices)
    this.#outermost = Int32Array.from({ length: vertices }, (_, vertex) => vertex)
    this.#parent = new Int32Array(2 * vertices).fill(NONE)
    this.#nodes = Array.from({ length: 2 * vertices }, () => NOTHING)
    this.#links = Array.from({ length: 2 * vertices }, () => NOTHING)
    this.#base = Int32Array.from({ length: 2 * vertices }, (_, node) => (node < vertices ? node : NONE))
    this.#unused = Array.from({ length: vertices }, (_, at) => 2 * vertices - 1 - at)
  }

  /** Adds one pair to the matching, at the minimum additional cost. Returns false if no further pair is possible. */
  add(): boolean {
    do if (this.#grow()) return true
    while (this.#adjust())
    return false
  }

  endOf(side: number): number {
    return this.#graph.ends[side] as number
  }

  /** Returns twice the slack of an edge. Outside of blossoms it is at least 0. It is 0 for edges of the matching. */
  #slack(edge: number): number {
    const { ends, costs } = this.#graph
    const both = (this.dual[ends[2 * edge] as number] as number) + (this.dual[ends[2 * edge + 1] as number] as number)
    return both + 2 * (costs[edge] as number)
  }

  /** Returns the vertices of a node. */
  #leaves(node: number, into: number[] = []): number[] {
    if (node < this.#graph.vertices) into.push(node)
    else for (const child of this.#nodes[node] as readonly number[]) this.#leaves(child, into)
    return into
  }

  /**
   * Grows trees from the free vertices along edges without slack. Returns true once two trees have met and the path
   * between their roots has been augmented.
   */
  #grow(): boolean {
    this.#label.fill(UNREACHED)
    this.#queue.length = 0
    for (const [vertex, side] of this.mate.entries()) if (side === NONE) this.#reach(vertex, EVEN, NONE)
    for (let vertex = this.#queue.pop(); vertex !== undefined; vertex = this.#queue.pop()) {
      for (const side of this.#around[vertex] as readonly number[]) {
        if (this.#slack(side >> 1) > 0) continue
        const other = this.endOf(side)
        const there = this.#outermost[other] as number
        if (there === this.#outermost[vertex] || this.#label[there] === ODD) continue
        if (this.#label[there] === UNREACHED) this.#reach(other, ODD, side ^ 1)
        else {
          const above = new Set(this.#evenAbove(vertex))
          const meeting = this.#evenAbove(other).find((node) => above.has(node))
          if (meeting === undefined) {
            this.#augment(side)
            this.#augment(side ^ 1)
            return true
          }
          this.#close(meeting, side)
        }
      }
    }
    return false
  }

  /** Labels the outermost node of a vertex. `side` leads back along the edge by which the vertex was reached. */
  #reach(vertex: number, as: typeof EVEN | typeof ODD, side: number): void {
    const node = this.#outermost[vertex] as number
    this.#label[node] = as
    this.#labelledBy[node] = side
    if (as === EVEN) {
      this.#queue.push(...this.#leaves(node))
      return
    }
    const mate = this.mate[this.#base[node] as number] as number
    this.#reach(this.endOf(mate), EVEN, mate ^ 1)
  }

  /** Returns the even nodes from the node of an even vertex up to the root of its tree. */
  #evenAbove(vertex: number): number[] {
    const nodes = [this.#outermost[vertex] as number]
    for (;;) {
      const up = this.#labelledBy[nodes.at(-1) as number] as number
      if (up === NONE) return nodes
      const odd = this.#outermost[this.endOf(up)] as number
      nodes.push(this.#outermost[this.endOf(this.#labelledBy[odd] as number)] as number)
    }
  }

  /**
   * Exchanges matched and unmatched edges on the path from a side's start to the root of its tree. Side: see the class.
   */
  #augment(side: number): void {
    let to = side
    for (;;) {
      const from = this.endOf(to ^ 1)
      const node = this.#outermost[from] as number
      this.#rebase(node, from)
      this.mate[from] = to
      const up = this.#labelledBy[node] as number
      if (up === NONE) return
      const odd = this.#outermost[this.endOf(up)] as number
      const on = this.#labelledBy[odd] as number
      const entry = this.endOf(on ^ 1)
      this.#rebase(odd, entry)
      this.mate[entry] = on
      to = on ^ 1
    }
  }

  /** Makes a vertex the base of its blossom, by exchanging matched and unmatched edges within the blossom. */
  #rebase(blossom: number, vertex: number): void {
    if (blossom < this.#graph.vertices) return
    let child = vertex
    while (this.#parent[child] !== blossom) child = this.#parent[child] as number
    this.#rebase(child, vertex)
    const [nodes, links] = [this.#nodes[blossom] as readonly number[], this.#links[blossom] as readonly number[]]
    const start = nodes.indexOf(child)
    // Goes to the base in the direction with an even number of links. Negative positions count from the end.
    const by = start % 2 === 1 ? 1 : -1
    for (let at = by === 1 ? start - nodes.length : start; at !== 0; at += by) {
      at += by
      const side = by === 1 ? (links.at(at) as number) : (links.at(at - 1) as number) ^ 1
      const [one, other] = [this.endOf(side ^ 1), this.endOf(side)]
      this.#rebase(nodes.at(at) as number, one)
      this.#rebase(nodes.at(at + by) as number, other)
      this.mate[one] = side
      this.mate[other] = side ^ 1
    }
    this.#nodes[blossom] = [...nodes.slice(start), ...nodes.slice(0, start)]
    this.#links[blossom] = [...links.slice(start), ...links.slice(0, start)]
    this.#base[blossom] = vertex
  }

  /**
   * Creates a blossom from the cycle that an edge between two even vertices closes. The cycle ends at the node that
   * their paths share.
   */
  #close(root: number, edge: number): void {
    const blossom = this.#unused.pop() as number
    const climb = (vertex: number) => {
      const path: { node: number; up: number }[] = []
      for (let node = this.#outermost[vertex] as number; node !== root;) {
        const up = this.#labelledBy[node] as number
        path.push({ node, up })
        node = this.#outermost[this.endOf(up)] as number
      }
      return path
    }
    const [down, back] = [climb(this.endOf(edge ^ 1)).toReversed(), climb(this.endOf(edge))]
    const nodes = [root, ...down.map(({ node }) => node), ...back.map(({ node }) => node)]
    this.#nodes[blossom] = nodes
    this.#links[blossom] = [...down.map(({ up }) => up ^ 1), edge, ...back.map(({ up }) => up)]
    for (const node of nodes) this.#parent[node] = blossom
    this.#base[blossom] = this.#base[root] as number
    this.dual[blossom] = 0
    this.#label[blossom] = EVEN
    this.#labelledBy[blossom] = this.#labelledBy[root] as number
    for (const vertex of this.#leaves(blossom)) {
      if (this.#label[this.#outermost[vertex] as number] === ODD) this.#queue.push(vertex)
      this.#outermost[vertex] = blossom
    }
  }

  /** Dissolves a blossom, so that its nodes become outermost. */
  #open(blossom: number): void {
    for (const node of this.#nodes[blossom] as readonly number[]) {
      this.#parent[node] = NONE
      for (const vertex of this.#leaves(node)) this.#outermost[vertex] = node
    }
    this.#nodes[blossom] = NOTHING
    this.#links[blossom] = NOTHING
    this.#base[blossom] = NONE
    this.#unused.push(blossom)
  }

  /**
   * Changes the dual values until a further edge has no slack, or a blossom is dissolved. Returns false if neither is
   * possible.
   */
  #adjust(): boolean {
    const { vertices, ends, costs } = this.#graph
    const [label, dual, outermost] = [this.#label, this.dual, this.#outermost]
    let [least, blossom] = [Infinity, NONE]
    for (let edge = 0; edge < costs.length; edge++) {
      const one = outermost[ends[2 * edge] as number] as number
      const other = outermost[ends[2 * edge + 1] as number] as number
      // EVEN is 1 and UNREACHED is 0, so the sum is the number of even ends.
      const evens = (label[one] as number) + (label[other] as number)
      if (one !== other && evens > 0 && label[one] !== ODD && label[other] !== ODD)
        least = Math.min(least, this.#slack(edge) / evens)
    }
    const isOuter = (node: number) => this.#parent[node] === NONE && this.#base[node] !== NONE
    for (let node = vertices; node < 2 * vertices; node++)
      if (label[node] === ODD && isOuter(node) && (dual[node] as number) < least)
        [least, blossom] = [dual[node] as number, node]
    if (least === Infinity) return false
    const change = [0, -least, least]
    for (let vertex = 0; vertex < vertices; vertex++)
      dual[vertex] = (dual[vertex] as number) + (change[label[outermost[vertex] as number] as number] as number)
    for (let node = vertices; node < 2 * vertices; node++)
      if (isOuter(node)) dual[node] = (dual[node] as number) - (change[label[node] as number] as number)
    if (blossom !== NONE) this.#open(blossom)
    return true
  }
}

/**
 * Finds the cheapest matching with `wanted` pairs, by Edmonds' algorithm. Starting with the empty matching, each step
 * adds one pair along the cheapest augmenting path. All free vertices keep the same dual value, the least of all, so
 * the matching after each step is the cheapest of its size. Time O(n² m).
 * @returns for each vertex its partner, −1 for none; the number of pairs, less than `wanted` if there are no more; and
 * a proof that nothing is cheaper. For any two vertices a and b, even without an edge, a pair costs at least −(proof[a]
 * + proof[b]) / 2. Within one blossom it may cost more.
 */
export function cheapestPairs(graph: Graph, wanted: number) {
  const matching = new BlossomMatching(graph)
  let pairs = 0
  while (pairs < wanted && matching.add()) pairs += 1
  const partners = matching.mate.map((side) => (side === NONE ? NONE : matching.endOf(side)))
  let cost = 0
  for (const [vertex, side] of matching.mate.entries())
    if (vertex < (partners[vertex] as number)) cost += graph.costs[side >> 1] as number
  return { partners, pairs, cost, proof: matching.dual.slice(0, graph.vertices) }
}
