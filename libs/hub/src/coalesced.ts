/** How long one name is not reported again, the pause between two rounds, and names of one round, in milliseconds. */
const everyMs = 1_000;
const roundMs = 200;
const mostOfRound = 10;

/**
 * Reports names of what changed: each at once, and at most once a second however often it changes; of many names a few
 * at a time. Nothing that changed stays unreported.
 */
export class Coalesced {
  private readonly pending = new Set<string>();
  /** When names were reported, the oldest first. */
  private readonly reportedAt = new Map<string, number>();
  private round: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(private readonly report: (name: string) => void) {}

  happened(name: string): void {
    if (this.isStopped) return;
    this.pending.add(name);
    if (this.round === undefined) this.begin();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.round);
    this.pending.clear();
  }

  private begin(): void {
    const now = performance.now();
    for (const [name, at] of this.reportedAt) {
      if (now - at < everyMs) break;
      this.reportedAt.delete(name);
    }
    const due = [...this.pending].filter((name) => !this.reportedAt.has(name)).slice(0, mostOfRound);
    for (const name of due) {
      this.pending.delete(name);
      this.reportedAt.set(name, now);
    }
    // Also where nothing is left, so that rounds do not follow each other faster.
    if (due.length > 0 || this.pending.size > 0)
      this.round = setTimeout(() => {
        this.round = undefined;
        if (this.pending.size > 0) this.begin();
      }, roundMs).unref();
    for (const name of due) this.report(name);
  }
}
