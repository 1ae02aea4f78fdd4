/**
 * The calls of one session: those that can move its state run one after another, so that each is checked against the
 * state that the ones before it left (XB-13). The others wait for nothing; only one that the present state does not
 * permit waits for what is about to move it.
 */
export class InTurn {
  private moving: Promise<unknown> | null = null;

  /**
   * A call that cannot move the state. `isPermitted` says whether the present state permits it; it is asked while a
   * call may move that.
   */
  async besides<T>(call: () => Promise<T>, isPermitted: () => Promise<boolean>): Promise<T> {
    const moving = this.moving;
    if (moving !== null && !(await isPermitted().catch(() => false))) await moving;
    return call();
  }

  /** A call that can move the state. */
  alone<T>(call: () => Promise<T>): Promise<T> {
    const made = (this.moving ?? Promise.resolve()).then(call);
    const settled = made.then(nothing, nothing).then(() => {
      if (this.moving === settled) this.moving = null;
    });
    this.moving = settled;
    return made;
  }
}

/** At most this many sessions keep their turns; the least recently used one is dropped first. */
const mostSessions = 10_000;

/** The turns of sessions that come with each request, by the session. */
export class Turns {
  private readonly bySession = new Map<string, InTurn>();

  of(session: string): InTurn {
    const turn = this.bySession.get(session) ?? new InTurn();
    this.bySession.delete(session);
    this.bySession.set(session, turn);
    const [oldest] = this.bySession.keys();
    if (this.bySession.size > mostSessions && oldest !== undefined) this.bySession.delete(oldest);
    return turn;
  }
}

function nothing(): void {
  // What a call came to is for its own caller.
}
