/** Resolves when it is so; throws after three minutes. */
export async function eventually(what: string, good: () => Promise<boolean>): Promise<void> {
  for (const until = Date.now() + 180_000; !(await good());) {
    if (Date.now() > until) throw new Error(`Not within 3 minutes: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/** For whoever reads the test's lines: figures are no conditions. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
