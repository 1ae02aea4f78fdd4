/** What the keyed hash of a result is over: with the call, so that equal results of two calls have different hashes. */
export function hashedResult({ callKey }: { readonly callKey: string }, json: string): string {
  return `${callKey}\n${json}`;
}
