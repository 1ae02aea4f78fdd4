import { printable, printableIn } from '@sluice/core';
import { positionOf } from '@sluice/contracts';
import type { ReadOptions } from '@sluice/bus';
import { decisionKinds } from '@sluice/replay';
import type { Replayed } from '@sluice/replay';
import type { CommandContext } from '../commands/command-context.js';
import { shortenApart } from './story.js';

/** A check that looked at nothing must not pass. */
export const nothingSelected = 'Nothing was replayed: no decision is in what was selected.';
const longestValue = 120;

/** Tells what a replay found: each decision that is not equal, and how many of each kind there were. */
export class Comparison {
  private readonly counts = new Map<string, { equal: number; different: number; not_replayable: number }>();
  private undecodable = 0;
  /** By keys that are not here: how many records, and which keys. */
  private unverified = 0;
  private readonly unknownKeys = new Set<string>();

  constructor(
    private readonly json: boolean,
    private readonly verified: boolean,
    private readonly surroundings: Pick<CommandContext, 'write' | 'print' | 'paint'>,
  ) {
    for (const kind of decisionKinds) this.counts.set(kind, { equal: 0, different: 0, not_replayable: 0 });
  }

  readonly onUndecodable: NonNullable<ReadOptions['onUndecodable']> = ({ topic, partition, offset }, reason) => {
    this.undecodable++;
    if (this.json) this.line({ topic, partition, offset, outcome: 'undecodable', reason });
    else this.say(this.surroundings.paint.bad('undecodable'), positionOf({ topic, partition, offset }), reason);
  };

  add(replayed: Replayed): void {
    const { kind, topic, partition, offset, requestId, sessionId, outcome, unknownKeys } = replayed;
    if (unknownKeys.length > 0) this.unverified++;
    for (const kid of unknownKeys) this.unknownKeys.add(kid);
    const counts = this.counts.get(kind);
    if (counts !== undefined) counts[outcome.kind]++;
    if (outcome.kind === 'equal') return;
    if (this.json) {
      const { kind: how, ...what } = outcome;
      this.line({
        topic,
        partition,
        offset,
        request_id: requestId,
        session_id: sessionId,
        kind,
        outcome: how,
        ...shown(what),
      });
      return;
    }
    const { paint } = this.surroundings;
    const place = positionOf(replayed);
    if (outcome.kind === 'not_replayable') {
      this.say(paint.dim('not replayable'), place, `${kind} of run ${requestId}: ${outcome.reason}`);
      return;
    }
    this.say(paint.bad('different'), place, `${kind} of run ${requestId}`);
    for (const { path, was, is } of printableIn(outcome.differences)) {
      const [recorded, derived] = shortenApart(was ?? 'nothing', is ?? 'nothing', longestValue);
      this.surroundings.write(`   ${path}: recorded ${recorded}, derived ${derived}\n`);
    }
  }

  /** Says how many there were; returns the exit code. */
  end(): number {
    const sum = (of: 'equal' | 'different' | 'not_replayable'): number =>
      [...this.counts.values()].reduce((all, counts) => all + counts[of], 0);
    const [equal, different, notReplayable] = [sum('equal'), sum('different'), sum('not_replayable')];
    if (this.json) {
      const by_kind = Object.fromEntries(this.counts);
      const counts = { replayed: equal + different, equal, different, not_replayable: notReplayable };
      const signed = {
        signatures_verified: this.verified && this.unverified === 0,
        unknown_keys: [...this.unknownKeys],
      };
      this.line({ ...counts, undecodable: this.undecodable, ...signed, by_kind });
    } else this.summary(equal, different, notReplayable);
    return different > 0 || equal + notReplayable === 0 ? 1 : 0;
  }

  private summary(equal: number, different: number, notReplayable: number): void {
    const { write, paint } = this.surroundings;
    for (const [kind, counts] of this.counts) {
      const all = counts.equal + counts.different + counts.not_replayable;
      if (all > 0) write(`${paint.dim(kind.padEnd(16))} ${counts.equal} of ${all} equal\n`);
    }
    if (equal + different + notReplayable === 0) {
      write(`${paint.bad('✗')} ${nothingSelected}\n`);
      return;
    }
    const mark = different > 0 ? paint.bad('✗') : paint.good('✓');
    const lost = this.undecodable === 0 ? '' : `, ${this.undecodable} records undecodable`;
    write(
      `${mark} ${equal + different} decisions replayed: ${equal} equal, ${different} different; ${notReplayable} not replayable${lost}\n`,
    );
    if (this.unverified > 0)
      write(
        `  ${this.unverified} ${this.unverified === 1 ? 'decision is' : 'decisions are'} signed by keys that you do not have (${printable([...this.unknownKeys].slice(0, 5).join(', '))}): not verified. Name the file of those keys with SLUICE_KEYS_FILE.\n`,
      );
    if (!this.verified)
      write('  Signatures were read and not verified, since there are no keys: name them with SLUICE_KEYS_FILE.\n');
  }

  private say(how: string, place: string, what: string): void {
    this.surroundings.write(`${how} ${place} ${printable(what)}\n`);
  }

  private line(value: object): void {
    this.surroundings.print(`${JSON.stringify(value)}\n`);
  }
}

function shown(outcome: object): object {
  if (!('differences' in outcome)) return outcome;
  const differences = outcome.differences as readonly { path: string; was?: string; is?: string }[];
  return {
    differences: differences.map(({ path, was, is }) => ({ field: path, recorded: was ?? null, derived: is ?? null })),
  };
}
