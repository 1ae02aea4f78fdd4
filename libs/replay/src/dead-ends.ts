import { isRequestTopic, positionOf } from '@sluice/contracts';
import type { DeadLetters, Gathered } from './run-records.js';

/** How much of runs that ended with a dead letter is held, in bytes: the oldest goes first. */
const mostBytes = 64 * 1024 * 1024;

/** What a record is counted as beside its bytes, and one whose bytes are not counted. */
const recordBytes = 1_024;
const typicalBytes = 8 * 1_024;

/**
 * Runs that ended with a dead letter: a redrive can bring each back, at any time, and is decided on records of
 * before. They are held until then, or the log’s end, as far as there is room.
 */
export class DeadEnds {
  /** Bytes of each, those that ended first first. */
  private readonly held = new Map<Gathered, number>();
  private bytes = 0;

  constructor(private readonly most = mostBytes) {}

  /** Whether it holds the run, which has ended: if not, the run is over. */
  holds(run: Gathered, dead: DeadLetters): boolean {
    if (!canComeBack(run, dead)) return false;
    keepLetters(run, dead);
    const bytes = sizeOf(run);
    this.held.set(run, bytes);
    this.bytes += bytes;
    return true;
  }

  /** The run is re-driven: it is judged with the dead letter of before too, however long it goes on now. */
  resumes(run: Gathered, dead: DeadLetters): void {
    this.release(run);
    keepLetters(run, dead);
  }

  /** The run goes on, or is given away. */
  release(run: Gathered): void {
    this.bytes -= this.held.get(run) ?? 0;
    this.held.delete(run);
  }

  /** The dead letters that the run is judged with: besides those of now, those it ended with before. */
  lettersOf(run: Gathered, dead: DeadLetters): DeadLetters {
    if (run.letters.size === 0) return dead;
    return this.held.has(run) ? run.letters : new Map([...run.letters, ...dead]);
  }

  /** Takes out those for which there is no room. */
  *beyond(): Generator<Gathered, void, undefined> {
    for (const run of this.held.keys()) {
      if (this.bytes <= this.most) return;
      this.release(run);
      yield run;
    }
  }
}

/** Whether a redrive can need records from before it; a request that is asked again brings all it needs along. */
function canComeBack({ isError, messages }: Gathered, dead: DeadLetters): boolean {
  if (!isError || dead.size === 0) return false;
  return messages.some((message) => !isRequestTopic(message.topic) && dead.has(positionOf(message)));
}

/** The dead letters that a run can have ended with. */
function keepLetters({ messages, letters }: Gathered, dead: DeadLetters): void {
  const places = new Set(messages.map(positionOf));
  const keys = new Set(messages.map(({ key }) => key));
  for (const [place, letter] of dead)
    if (places.has(place) || (letter.code === 'undecodable' && keys.has(letter.key))) letters.set(place, letter);
}

function sizeOf({ messages, letters }: Gathered): number {
  let bytes = 0;
  for (const { avro } of messages) bytes += recordBytes + (avro?.length ?? typicalBytes);
  for (const { value } of letters.values()) bytes += recordBytes + value.length;
  return bytes;
}
