/** What `look` sees once it is good; throws with what it saw last if that takes longer than 60 s. */
export async function eventually<T>(look: () => T | Promise<T>, good: (value: T) => boolean): Promise<T> {
  for (const until = Date.now() + 60_000; ;) {
    const value = await look();
    if (good(value)) return value;
    if (Date.now() > until) throw new Error(`Not within 60 s; last seen: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
