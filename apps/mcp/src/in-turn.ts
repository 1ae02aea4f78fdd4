/**
 * The calls of one session: those that can move its state run alone, the others side by side. So each is checked against the state that
 * the ones before it left (XB-13), and calls that change nothing do not wait for each other.
 */
export class InTurn {
  #alone: Promise<unknown> = Promise.resolve();
  readonly #together = new Set<Promise<unknown>>();

  together<T>(call: () => Promise<T>): Promise<T> {
    const made = this.#alone.then(call);
    const settled = made.then(nothing, nothing);
    this.#together.add(settled);
    void settled.then(() => this.#together.delete(settled));
    return made;
  }

  alone<T>(call: () => Promise<T>): Promise<T> {
    const made = Promise.all([this.#alone, ...this.#together]).then(call);
    this.#alone = made.then(nothing, nothing);
    return made;
  }
}

/** At most this many sessions keep their turns; the least recently used one is dropped first. */
const mostSessions = 10_000;

/** The turns of sessions that come with each request, by the session. */
export class Turns {
  readonly #bySession = new Map<string, InTurn>();

  of(session: string): InTurn {
    const turn = this.#bySession.get(session) ?? new InTurn();
    this.#bySession.delete(session);
    this.#bySession.set(session, turn);
    const [oldest] = this.#bySession.keys();
    if (this.#bySession.size > mostSessions && oldest !== undefined) this.#bySession.delete(oldest);
    return turn;
  }
}

function nothing(): void {
  // What a call came to is for its own caller.
}
