import { printable } from '@sluice/core';
import type { Incoming } from '@sluice/bus';
import type { Paint } from './paint.js';

/** A tool that is over sooner is not shown, milliseconds. */
const quietMs = 1_000;
const tickMs = 1_000;
/** To the beginning of the line, which is emptied. */
const emptied = '\r\u001b[K';

interface Running {
  readonly tool: string;
  /** By the clock of this process: that of the executor may be another. */
  readonly since: number;
}

/**
 * The tools that run longer than a second, each with its time, on one line of a terminal that is written again each
 * second. Whatever else is written goes through `write`, which takes the line away first. Where there is no terminal
 * nothing is shown. `close` at the end.
 */
export class Elapsed {
  private readonly running = new Map<string, Running>();
  private ticking: NodeJS.Timeout | undefined;
  private isShown = false;

  constructor(
    private readonly to: {
      readonly terminal: boolean;
      write(text: string): void;
      /** As it is, without wrapping. */
      print(text: string): void;
      readonly paint: Paint;
    },
    private readonly now: () => number = Date.now,
    private readonly columns: () => number = () => process.stdout.columns,
  ) {}

  /** Takes each record before it is shown. */
  take({ topic, record }: Incoming): void {
    if (!this.to.terminal) return;
    if (topic === 'agent.progress') {
      const { requestId, iteration, kind, toolCallId, tool, notice } = record;
      const call = JSON.stringify([requestId, iteration, toolCallId]);
      if (kind === 'tool_call_start' && tool !== null) this.running.set(call, { tool, since: this.now() });
      // Its result, or its end.
      else if (kind !== 'tool_progress' && notice === null) this.running.delete(call);
    } else if (topic === 'agent.steps' || topic === 'agent.responses') {
      // Progress may be lost: what the record of the turn tells of is over.
      for (const call of this.running.keys())
        if ((JSON.parse(call) as readonly unknown[])[0] === record.requestId) this.running.delete(call);
    }
    if (this.running.size === 0) this.stop();
    else this.ticking ??= setInterval(() => this.show(), tickMs).unref();
  }

  write(text: string): void {
    this.clear();
    this.to.write(text);
  }

  close(): void {
    this.running.clear();
    this.stop();
  }

  show(): void {
    const now = this.now();
    const long = [...this.running.values()].filter(({ since }) => now - since >= quietMs);
    if (long.length === 0) return this.clear();
    const each = long.map(({ tool, since }) => `${printable(tool)} ${inWords(now - since)}`);
    const line = `   running  ${each.join(', ')}`;
    // A line that is wrapped could not be taken away as one.
    const room = Math.max(20, (this.columns() || 80) - 1);
    this.to.print(`${emptied}${this.to.paint.dim(line.length <= room ? line : `${line.slice(0, room - 1)}…`)}`);
    this.isShown = true;
  }

  private stop(): void {
    clearInterval(this.ticking);
    this.ticking = undefined;
    this.clear();
  }

  private clear(): void {
    if (this.isShown) this.to.print(emptied);
    this.isShown = false;
  }
}

function inWords(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
