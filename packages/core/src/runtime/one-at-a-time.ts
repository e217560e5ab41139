/**
 * Creates a function that runs tasks one after another, in the order of the calls. A failed task does not stop later
 * tasks.
 */
export function oneAtATime(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const result = last.then(task)
    last = result.catch(() => {})
    return result
  }
}
