// pure: the trees of a search: how each node was reached
import { EVEN, NONE, ODD, TRACED, UNREACHED, type Blossoms } from './blossoms.js'

/** Alternating trees rooted in the free vertices: nodes are at an even or an odd distance from their root. */
export class Trees {
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
