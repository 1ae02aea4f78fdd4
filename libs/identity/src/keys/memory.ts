/** The last values set, up to a number; what was set first goes first. */
export class Memory<V> {
  private readonly values = new Map<string, V>();

  constructor(private readonly most: number) {}

  get(key: string): V | undefined {
    // To look a long text up takes a walk over all of it.
    return this.values.size === 0 ? undefined : this.values.get(key);
  }

  set(key: string, value: V): void {
    this.values.set(key, value);
    const oldest = this.values.keys().next().value;
    if (this.values.size > this.most && oldest !== undefined) this.values.delete(oldest);
  }
}
