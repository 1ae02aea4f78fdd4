import { printable } from '@sluice/core';
import { positionOf } from '@sluice/contracts';
import type { ReadOptions } from '@sluice/bus';
import type { Change, Reconsidered } from '@sluice/replay';
import { nothingSelected } from './comparison.js';
import type { CommandContext } from '../commands/command-context.js';

/** Examples that are named for each thing that would change. */
const examplesNamed = 3;

interface Tally {
  count: number;
  readonly examples: string[];
}

/** Tells which decisions would be otherwise under a candidate: what, how often, for whom, and some of them by name. */
export class Prospect {
  private considered = 0;
  private altered = 0;
  private notReplayable = 0;
  private undecodable = 0;
  private readonly whats = new Map<string, Tally>();
  private readonly by = {
    tool: new Map<string, number>(),
    group: new Map<string, number>(),
    state: new Map<string, number>(),
    tenant: new Map<string, number>(),
  };

  constructor(
    private readonly json: boolean,
    private readonly version: string,
    private readonly surroundings: Pick<CommandContext, 'write' | 'print' | 'paint'>,
  ) {}

  readonly onUndecodable: NonNullable<ReadOptions['onUndecodable']> = ({ topic, partition, offset }, reason) => {
    this.undecodable++;
    if (this.json) this.line({ topic, partition, offset, outcome: 'undecodable', reason });
    else this.surroundings.write(`undecodable ${topic}/${partition}/${offset} ${printable(reason)}\n`);
  };

  add(reconsidered: Reconsidered): void {
    const { topic, partition, offset, requestId, tenant, groups, state, changes, notReplayable } = reconsidered;
    const place = positionOf(reconsidered);
    this.considered++;
    if (notReplayable !== null) {
      this.notReplayable++;
      if (this.json) this.line({ topic, partition, offset, request_id: requestId, not_replayable: notReplayable });
      else
        this.surroundings.write(
          `not replayable ${place} of run ${printable(requestId)}: ${printable(notReplayable)}\n`,
        );
    }
    if (changes.length === 0) return;
    this.altered++;
    if (this.json) this.line({ topic, partition, offset, request_id: requestId, tenant, groups, state, changes });
    for (const what of changes.flatMap(inWords)) {
      const tally = this.whats.get(what) ?? { count: 0, examples: [] };
      tally.count++;
      if (tally.examples.length < examplesNamed) tally.examples.push(`${place} (run ${requestId})`);
      this.whats.set(what, tally);
    }
    for (const tool of new Set(changes.flatMap(toolsOf))) count(this.by.tool, tool);
    for (const group of groups) count(this.by.group, group);
    count(this.by.state, state);
    if (tenant !== '') count(this.by.tenant, tenant);
  }

  /** Says how many there were; returns the exit code. */
  end(): number {
    const { considered, altered, notReplayable: not_replayable, undecodable } = this;
    if (this.json) {
      const by = Object.fromEntries(
        Object.entries(this.by).map(([name, counts]) => [name, Object.fromEntries(counts)]),
      );
      this.line({ config_version: this.version, considered, altered, not_replayable, undecodable, by });
      return considered === 0 ? 1 : 0;
    }
    const { write, paint } = this.surroundings;
    if (considered === 0) {
      write(`${paint.bad('✗')} ${nothingSelected}\n`);
      return 1;
    }
    const most = [...this.whats].sort(([, one], [, other]) => other.count - one.count);
    for (const [what, { count: times, examples }] of most)
      write(
        `${String(times).padStart(6)} × ${printable(what)}\n         ${paint.dim(printable(`such as ${examples.join(', ')}`))}\n`,
      );
    for (const [name, counts] of Object.entries(this.by)) {
      const all = [...counts].sort(([, one], [, other]) => other - one).map(([of, times]) => `${of} ${times}`);
      if (all.length > 0) write(`${paint.dim(`by ${name}`.padEnd(10))} ${printable(all.join(', '))}\n`);
    }
    const lost = undecodable === 0 ? '' : `, ${undecodable} records undecodable`;
    write(
      `Under ${this.version} ${altered} of ${considered} decisions would be otherwise; ${not_replayable} not replayable${lost}\n`,
    );
    return 0;
  }

  private line(value: object): void {
    this.surroundings.print(`${JSON.stringify(value)}\n`);
  }
}

function inWords(change: Change): readonly string[] {
  switch (change.kind) {
    case 'tools':
      return [
        ...change.gained.map((tool) => `${tool} would be offered`),
        ...change.lost.map((tool) => `${tool} would not be offered`),
        ...change.altered.map((tool) => `${tool} would be offered with another description or schema`),
      ];
    case 'call':
      return [`a call of ${change.tool}: ${change.was}, would be ${change.would}${byRule(change.rule)}`];
    case 'state':
      return [`${change.tool} led to the state ${change.was}, would lead to ${change.would}`];
    case 'run':
      return [`a run: ${change.was}, would be ${change.would}`];
    case 'approval':
      return [
        `a decision on ${change.tool === '' ? 'an approval that was not requested' : `an approval of ${change.tool}`}: ${change.was}, would be ${change.would}`,
      ];
  }
}

function toolsOf(change: Change): readonly string[] {
  if (change.kind === 'tools') return [...change.gained, ...change.lost, ...change.altered];
  return change.kind === 'run' || change.tool === '' ? [] : [change.tool];
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function byRule(rule: string | undefined): string {
  return rule === undefined ? '' : ` (rule ${printable(rule)})`;
}
