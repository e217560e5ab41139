/** Makes several runs, one after another. Resolves with their results. */
export async function runsOf<Result>(count: number, run: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let nth = 0; nth < count; nth += 1) results.push(await run())
  return results
}
