/** `call-<steps so far>-<index in the turn>`, with a count behind it should that be used already. */
export function derivedCallId(steps: number, index: number, taken: ReadonlySet<string>): string {
  const id = `call-${steps}-${index}`;
  for (let count = 2, free = id; ; count += 1) {
    if (!taken.has(free)) return free;
    free = `${id}-${count}`;
  }
}
