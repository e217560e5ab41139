// pure: the trees of a search: how each node was reached
import { Blossoms, EVEN, type Graph, NONE, ODD, TRACED, UNREACHED } from './blossoms.js'

/** Alternating trees rooted in the free vertices: nodes are at an even or an odd distance from their root. */
class Trees {
  /** Even vertices whose edges are still to be looked at. */
  readonly queue: number[] = []
  /** Edges known to have no slack. */
  readonly tight: Uint8Array
  /** For each even node, and each unreached vertex, the edge of least slack to an even node; NONE for none. */
  readonly nearest: Int32Array
  readonly #state: Blossoms

  constructor(state: Blossoms) {
    this.#state = state
    this.tight = new Uint8Array(state.graph.costs.length)
    this.nearest = new Int32Array(2 * state.vertices)
  }

  begin(): void {
    const { vertices, label, mate, outermost } = this.#state
    label.fill(UNREACHED)
    this.nearest.fill(NONE)
    this.tight.fill(0)
    this.queue.length = 0
    for (let vertex = 0; vertex < vertices; vertex++)
      if (mate[vertex] === NONE && label[outermost[vertex] as number] === UNREACHED) this.reach(vertex, EVEN, NONE)
  }

  /** Labels the outermost node of a vertex, reached by the edge that `side` leads back on. */
  reach(vertex: number, as: typeof EVEN | typeof ODD, side: number): void {
    const state = this.#state
    const node = state.outermost[vertex] as number
    for (const each of [vertex, node]) {
      state.label[each] = as
      state.labelledBy[each] = side
      this.nearest[each] = NONE
    }
    if (as === EVEN) {
      this.queue.push(...state.leaves(node))
      return
    }
    const mate = state.mate[state.base[node] as number] as number
    this.reach(state.endOf(mate), EVEN, mate ^ 1)
  }

  /** The base of the node in which the paths of two even vertices to their roots meet; NONE if they never do. */
  meet(one: number, other: number): number {
    const { label, labelledBy, outermost, base } = this.#state
    const endOf = (side: number) => this.#state.endOf(side)
    const traced: number[] = []
    let found = NONE
    for (let [next, after] = [one, other]; next !== NONE;) {
      const node = outermost[next] as number
      if (label[node] === TRACED) {
        found = base[node] as number
        break
      }
      traced.push(node)
      label[node] = TRACED
      const up = labelledBy[node] as number
      const above = up === NONE ? NONE : endOf(labelledBy[outermost[endOf(up)] as number] as number)
      if (after === NONE) next = above
      else [next, after] = [after, above]
    }
    for (const node of traced) label[node] = EVEN
    return found
  }

  /** Labels the nodes of an odd blossom that is being opened: those on the path through it stay in the tree. */
  relabel(blossom: number): void {
    const state = this.#state
    const { label, labelledBy, outermost, mate } = state
    let side = labelledBy[blossom] as number
    const entry = outermost[state.endOf(side ^ 1)] as number
    const { at: from, by } = state.walkFrom(blossom, entry)
    let at = from
    for (; at !== 0; at += 2 * by) {
      label[state.endOf(side ^ 1)] = UNREACHED
      const inner = state.linkFrom(blossom, at, by)
      label[state.endOf(inner)] = UNREACHED
      this.reach(state.endOf(side ^ 1), ODD, side)
      this.tight[inner >> 1] = 1
      side = state.linkFrom(blossom, at + by, by) ^ 1
      this.tight[side >> 1] = 1
    }
    const last = state.childAt(blossom, at)
    for (const each of [state.endOf(side ^ 1), last]) {
      label[each] = ODD
      labelledBy[each] = side
    }
    this.nearest[last] = NONE
    for (at += by; state.childAt(blossom, at) !== entry; at += by) {
      const node = state.childAt(blossom, at)
      if (label[node] === EVEN) continue
      const reached = state.leaves(node).find((vertex) => label[vertex] !== UNREACHED)
      if (reached === undefined) continue
      label[reached] = UNREACHED
      label[state.endOf(mate[state.base[node] as number] as number)] = UNREACHED
      this.reach(reached, ODD, labelledBy[reached] as number)
    }
  }
}

/**
 * Grows alternating trees along edges without slack until two of them meet. Where no such edge is left, dual values
 * change until there is one.
 */
class Forest {
  readonly #state: Blossoms
  readonly #trees: Trees
  /** For each even blossom the nearest edges to other even nodes. */
  readonly #edges: (readonly number[] | undefined)[]

  constructor(state: Blossoms) {
    this.#state = state
    this.#trees = new Trees(state)
    this.#edges = Array.from({ length: 2 * state.vertices })
  }

  /** Adds one pair to the matching, at the least additional cost. False if there is none. */
  augment(): boolean {
    this.#begin()
    for (;;) {
      if (this.#follow()) break
      if (!this.#adjust()) return false
    }
    this.#end()
    return true
  }

  #begin(): void {
    this.#edges.fill(undefined)
    this.#trees.begin()
  }

  /** Opens even blossoms whose dual value is 0: they would keep edges from being matched. */
  #end(): void {
    const { vertices, parent, base, label, dual } = this.#state
    for (let node = vertices; node < 2 * vertices; node++)
      if (parent[node] === NONE && base[node] !== NONE && label[node] === EVEN && dual[node] === 0)
        this.#open(node, true)
  }

  /** Follows edges without slack; true once a path between two free vertices was found and augmented. */
  #follow(): boolean {
    const { around, outermost } = this.#state
    for (let vertex = this.#trees.queue.pop(); vertex !== undefined; vertex = this.#trees.queue.pop()) {
      const end = around.first[vertex + 1] as number
      for (let at = around.first[vertex] as number; at < end; at++) {
        const side = around.sides[at] as number
        const other = this.#state.endOf(side)
        if (outermost[vertex] === outermost[other]) continue
        if (this.#look(vertex, other, side)) return true
      }
    }
    return false
  }

  #look(vertex: number, other: number, side: number): boolean {
    const state = this.#state
    const { label, outermost } = state
    const edge = side >> 1
    const slack = this.#trees.tight[edge] === 1 ? 0 : state.slack(edge)
    const there = label[outermost[other] as number]
    if (slack > 0) {
      if (there === EVEN) this.#keepNearest(outermost[vertex] as number, edge, slack)
      else if (label[other] === UNREACHED) this.#keepNearest(other, edge, slack)
      return false
    }
    this.#trees.tight[edge] = 1
    if (there === UNREACHED) this.#trees.reach(other, ODD, side ^ 1)
    else if (there === EVEN) {
      const base = this.#trees.meet(vertex, other)
      if (base === NONE) {
        state.augment(edge)
        return true
      }
      this.#close(base, edge)
    } else if (label[other] === UNREACHED) {
      // Within an odd blossom: remembered for the time when the blossom is opened.
      label[other] = ODD
      state.labelledBy[other] = side ^ 1
    }
    return false
  }

  #keepNearest(node: number, edge: number, slack: number): void {
    const kept = this.#trees.nearest[node] as number
    if (kept === NONE || slack < this.#state.slack(kept)) this.#trees.nearest[node] = edge
  }

  /** Makes a blossom of the cycle that an edge between two even vertices closes. */
  #close(base: number, edge: number): void {
    const state = this.#state
    const { label, labelledBy, outermost, parent } = state
    const root = outermost[base] as number
    const blossom = state.unused.pop() as number
    const nodes: number[] = []
    const links: number[] = []
    /** From a vertex up to the root: each node, and the side to the one above. */
    const climb = (vertex: number, each: (node: number, up: number) => void) => {
      for (let node = outermost[vertex] as number; node !== root;) {
        const up = labelledBy[node] as number
        parent[node] = blossom
        each(node, up)
        node = outermost[state.endOf(up)] as number
      }
    }
    climb(state.endOf(2 * edge), (node, up) => {
      nodes.push(node)
      links.push(up ^ 1)
    })
    nodes.push(root)
    nodes.reverse()
    links.reverse()
    links.push(2 * edge + 1)
    climb(state.endOf(2 * edge + 1), (node, up) => {
      nodes.push(node)
      links.push(up)
    })
    parent[root] = blossom
    parent[blossom] = NONE
    state.base[blossom] = base
    state.nodes[blossom] = nodes
    state.links[blossom] = links
    state.dual[blossom] = 0
    label[blossom] = EVEN
    state.labelledBy[blossom] = labelledBy[root] as number
    for (const vertex of state.leaves(blossom)) {
      if (label[outermost[vertex] as number] === ODD) this.#trees.queue.push(vertex)
      outermost[vertex] = blossom
    }
    this.#gatherEdges(blossom)
  }

  /** Keeps of the edges of a new blossom the nearest one to each other even node. */
  #gatherEdges(blossom: number): void {
    const state = this.#state
    const { label, outermost, around } = state
    const nearest = new Map<number, number>()
    const keep = (edge: number) => {
      const [one, other] = [state.endOf(2 * edge), state.endOf(2 * edge + 1)]
      const node = outermost[outermost[other] === blossom ? one : other] as number
      if (node === blossom || label[node] !== EVEN) return
      const kept = nearest.get(node)
      if (kept === undefined || state.slack(edge) < state.slack(kept)) nearest.set(node, edge)
    }
    for (const node of state.nodes[blossom] as readonly number[]) {
      const own = this.#edges[node]
      if (own !== undefined) for (const edge of own) keep(edge)
      else
        for (const vertex of state.leaves(node))
          for (let at = around.first[vertex] as number; at < (around.first[vertex + 1] as number); at++)
            keep((around.sides[at] as number) >> 1)
      this.#edges[node] = undefined
      this.#trees.nearest[node] = NONE
    }
    const edges = [...nearest.values()]
    this.#edges[blossom] = edges
    this.#trees.nearest[blossom] = NONE
    for (const edge of edges) this.#keepNearest(blossom, edge, state.slack(edge))
  }

  /** Opens a blossom: its nodes become outermost. @param isEnd whether the search is over, so that no label counts. */
  #open(blossom: number, isEnd: boolean): void {
    const state = this.#state
    for (const node of state.nodes[blossom] as readonly number[]) {
      state.parent[node] = NONE
      if (isEnd && state.isBlossom(node) && state.dual[node] === 0) this.#open(node, true)
      else for (const vertex of state.leaves(node)) state.outermost[vertex] = node
    }
    if (!isEnd && state.label[blossom] === ODD) this.#trees.relabel(blossom)
    state.label[blossom] = UNREACHED
    state.labelledBy[blossom] = NONE
    state.nodes[blossom] = []
    state.links[blossom] = []
    state.base[blossom] = NONE
    this.#edges[blossom] = undefined
    this.#trees.nearest[blossom] = NONE
    state.unused.push(blossom)
  }

  /** Changes the dual values so that a further edge has no slack, or a blossom may be opened. False if none can. */
  #adjust(): boolean {
    const state = this.#state
    const { vertices, label, outermost, parent, base, dual } = state
    let least = Infinity
    let edge = NONE
    let blossom = NONE
    for (let node = 0; node < 2 * vertices; node++) {
      const nearest = this.#trees.nearest[node] as number
      const isOuter = parent[node] === NONE && base[node] !== NONE
      let by = Infinity
      if (nearest !== NONE) {
        if (node < vertices && label[outermost[node] as number] === UNREACHED) by = state.slack(nearest)
        else if (isOuter && label[node] === EVEN) by = state.slack(nearest) / 2
        if (by < least) [least, edge, blossom] = [by, nearest, NONE]
      }
      if (node >= vertices && isOuter && label[node] === ODD && (dual[node] as number) < least)
        [least, edge, blossom] = [dual[node] as number, NONE, node]
    }
    if (least === Infinity) return false
    for (let node = 0; node < 2 * vertices; node++) {
      const isVertex = node < vertices
      if (!isVertex && (parent[node] !== NONE || base[node] === NONE)) continue
      const of = label[isVertex ? (outermost[node] as number) : node]
      if (of === EVEN) dual[node] = (dual[node] as number) + (isVertex ? -least : least)
      else if (of === ODD) dual[node] = (dual[node] as number) + (isVertex ? least : -least)
    }
    if (blossom !== NONE) this.#open(blossom, false)
    else {
      this.#trees.tight[edge] = 1
      const [one, other] = [state.endOf(2 * edge), state.endOf(2 * edge + 1)]
      this.#trees.queue.push(label[outermost[one] as number] === UNREACHED ? other : one)
    }
    return true
  }
}

interface CheapestPairs {
  /** For each vertex its partner; −1 for none. */
  readonly partners: Int32Array
  /** Number of pairs: fewer than wanted if there is no matching with as many. */
  readonly pairs: number
  readonly cost: number
  /**
   * The proof that nothing is cheaper: for any two vertices a and b, also without an edge, no pair costs less than
   * −(proof[a] + proof[b]) / 2, unless both are in one blossom, where it may cost more.
   */
  readonly proof: Float64Array
}

/**
 * Finds the cheapest matching with `wanted` pairs, by Edmonds' algorithm: from the empty matching, each step adds one
 * pair by way of the cheapest augmenting path. All free vertices keep the same dual value, which is the least, so that
 * after each step the matching is the cheapest of its size (that value is the dual of the number of pairs). O(n³).
 */
export function cheapestPairs(graph: Graph, wanted: number): CheapestPairs {
  const state = new Blossoms(graph)
  const forest = new Forest(state)
  let pairs = 0
  while (pairs < wanted && forest.augment()) pairs += 1
  const partners = state.mate.map((side) => (side === -1 ? -1 : state.endOf(side)))
  let cost = 0
  for (const [vertex, side] of state.mate.entries())
    if (side !== -1 && vertex < (partners[vertex] as number)) cost += graph.costs[side >> 1] as number
  return { partners, pairs, cost, proof: state.dual.slice(0, graph.vertices) }
}
