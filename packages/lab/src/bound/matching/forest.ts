// pure: the search for an augmenting path: trees that grow from all free vertices
import { EVEN, NONE, ODD, UNREACHED, type Blossoms } from './blossoms.js'
import { Trees } from './trees.js'

/**
 * Grows alternating trees along edges without slack until two of them meet. Where no such edge is left, dual values
 * change until there is one.
 */
export class Forest {
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
