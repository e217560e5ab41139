/** Returns the value that this share (0 to 1) of all values does not exceed; 0 if there are no values. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

/** Returns the 50th, 95th and 99th percentile as whole numbers. */
export function percentiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(percentile(sorted, share))
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
