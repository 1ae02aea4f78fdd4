interface Line<P> {
  readonly places: P[];
  /** Where the line begins in `places`: taking from an array's front is slow once it is long. */
  head: number;
}

/**
 * One lane a session: what is in a lane runs one after another, lanes run side by side. A lane that is
 * busy keeps what comes later as `P`: a position on the log, or a record already in memory.
 */
export class Lanes<P> {
  private readonly lines = new Map<string, Line<P>>();
  private _waiting = 0;

  /** How many wait behind others of their session. */
  get waiting(): number {
    return this._waiting;
  }

  /** True if the session's lane was free and is now the caller's, who runs the record; false if it was put in line. */
  enter(session: string, place: P): boolean {
    const line = this.lines.get(session);
    if (line === undefined) {
      this.lines.set(session, { places: [], head: 0 });
      return true;
    }
    line.places.push(place);
    this._waiting++;
    return false;
  }

  /** The next in the session's line; if there is none, the lane is free again. */
  next(session: string): P | undefined {
    const line = this.lines.get(session);
    if (line === undefined || line.head === line.places.length) {
      this.lines.delete(session);
      return undefined;
    }
    const place = line.places[line.head++];
    this._waiting--;
    if (line.head * 2 > line.places.length) {
      line.places.splice(0, line.head);
      line.head = 0;
    }
    return place;
  }
}
