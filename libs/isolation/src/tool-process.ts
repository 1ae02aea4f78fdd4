import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { Duplex, Readable } from 'node:stream';
import { printable } from '@sluice/core';
import { Channel } from './channel.js';
import { heapMegabytes, launch } from './launch.js';
import type { FromChild, ToChild } from './messages.js';
import type { Namespace } from './network/namespace.js';

/** Why a tool’s process is no more. */
export const processEnds = ['crash', 'memory', 'time', 'flood', 'closed'] as const;
export type ProcessEnd = (typeof processEnds)[number];

/** What the process says at the end of a task. */
export type TaskEnd = Extract<FromChild, { say: 'loaded' | 'parsed' | 'refused' | 'ended' | 'threw' | 'stale' }>;

export interface Task {
  readonly message: (n: number) => ToChild;
  /** What the process says before the end of the task. */
  onSaid?(message: FromChild, send: (message: ToChild) => void): void;
  readonly signal: AbortSignal | null;
  /** Beyond it the process is ended; null where the signal says when. Milliseconds. */
  readonly timeMs: number | null;
}

/** The process ended before its task did. */
export class ProcessEndedError extends Error {
  override readonly name = 'ProcessEndedError';
  constructor(
    readonly end: ProcessEnd,
    readonly words: string,
  ) {
    super(words === '' ? `The tool’s process ended (${end}).` : `The tool’s process ended (${end}): ${words}`);
  }
}

/** How long a tool may go on after its call has ended, milliseconds: its process is ended then. */
const graceMs = 1_000;
/** How often the memory of a process with a task is looked at, milliseconds. */
const lookEveryMs = 200;
/** Resident memory of one process: the heap, what lies beside it, and Node itself. */
const residentBytes = (heapMegabytes + 256) * 1_048_576;
/** Messages in one second beyond which a tool costs the service too much. */
const mostPerSecond = 20_000;
/** Bytes of answers that a process has not read. */
const unreadBytes = 67_108_864;
const keptErrorBytes = 8_192;

/** One process of a tool file. One task at a time. */
export class ToolProcess {
  readonly ended: Promise<ProcessEndedError>;
  private readonly child: ChildProcess;
  private readonly channel: Channel<ToChild, FromChild>;
  private task: { readonly n: number; readonly given: Task; readonly end: PromiseWithResolvers<TaskEnd> } | undefined;
  private last = 0;
  private why: ProcessEnd | null = null;
  private errorText = '';
  private said = { since: 0, count: 0 };
  private isGone = false;

  constructor(path: string, network: 'closed' | 'open', namespace: Namespace, onOutput: (line: string) => void) {
    this.child = launch(path, network, namespace);
    const { child } = this;
    this.channel = new Channel(
      child.stdio[3] as Duplex,
      (message) => this.take(message),
      () => this.kill('crash'),
    );
    lines(child.stdout as Readable, onOutput);
    lines(child.stderr as Readable, onOutput, (text) => {
      this.errorText = (this.errorText + text).slice(-keptErrorBytes);
    });
    this.ended = new Promise((resolve) => {
      const gone = (): void => {
        if (this.isGone) return;
        this.isGone = true;
        this.channel.close();
        const error = new ProcessEndedError(this.reason(), this.lastWords());
        this.task?.end.reject(error);
        resolve(error);
      };
      child.once('close', gone);
      child.once('error', (error) => {
        this.errorText ||= error.message;
        gone();
      });
    });
  }

  /** Whether it can be given a task. */
  get isUsable(): boolean {
    return !this.isGone && this.why === null && this.task === undefined;
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /**
   * What the process makes of the task. Once the signal aborts, the process is given a moment to come to the end of
   * it, and is ended if it does not. Rejects with ProcessEndedError. Not to be called before the task before it has
   * ended.
   */
  async run(given: Task): Promise<TaskEnd> {
    const n = ++this.last;
    const end = Promise.withResolvers<TaskEnd>();
    if (!this.isUsable) throw await this.ended;
    this.task = { n, given, end };
    const { signal } = given;
    let late: NodeJS.Timeout | undefined;
    const stop = (): void => {
      this.channel.send({ do: 'abort', n, reason: 'The call has ended.' });
      late = setTimeout(() => this.kill('time'), graceMs);
    };
    const timer = given.timeMs === null ? undefined : setTimeout(() => this.kill('time'), given.timeMs);
    const watch = setInterval(() => void this.lookAtMemory(), lookEveryMs);
    try {
      this.channel.send(given.message(n));
      if (signal?.aborted === true) stop();
      else signal?.addEventListener('abort', stop, { once: true });
      return await end.promise;
    } finally {
      signal?.removeEventListener('abort', stop);
      clearTimeout(late);
      clearTimeout(timer);
      clearInterval(watch);
      this.task = undefined;
    }
  }

  kill(why: ProcessEnd): void {
    this.why ??= why;
    // Its end is worth waiting for, also where it had nothing to do.
    this.ref();
    this.child.kill('SIGKILL');
  }

  /** A process that has nothing to do does not keep the service alive. */
  unref(): void {
    this.child.unref();
    for (const pipe of this.child.stdio) (pipe as { unref?(): void } | null)?.unref?.();
  }

  ref(): void {
    this.child.ref();
    for (const pipe of this.child.stdio) (pipe as { ref?(): void } | null)?.ref?.();
  }

  private take(message: FromChild): void {
    const { task } = this;
    const now = performance.now();
    if (now - this.said.since > 1_000) this.said = { since: now, count: 0 };
    if (++this.said.count > mostPerSecond || this.channel.unread > unreadBytes) return this.kill('flood');
    // What a former call left running has no listener any more.
    if (task === undefined || message.n !== task.n) return;
    switch (message.say) {
      case 'loaded':
      case 'parsed':
      case 'refused':
      case 'ended':
      case 'threw':
      case 'stale':
        return task.end.resolve(message);
      case 'ask':
      case 'stop':
      case 'progress':
        return task.given.onSaid?.(message, (answer) => this.channel.send(answer));
    }
  }

  private async lookAtMemory(): Promise<void> {
    if (process.platform !== 'linux' || this.child.pid === undefined) return;
    const status = await readFile(`/proc/${String(this.child.pid)}/status`, 'utf8').catch(() => '');
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
    if (Number(kilobytes) * 1_024 > residentBytes) this.kill('memory');
  }

  private reason(): ProcessEnd {
    if (this.why !== null && this.why !== 'crash') return this.why;
    return /heap out of memory|FatalProcessOutOfMemory/.test(this.errorText) ? 'memory' : 'crash';
  }

  /** The line of its standard error that says most. */
  private lastWords(): string {
    const all = this.errorText.split('\n').filter((line) => line.trim() !== '');
    const line = all.findLast((one) => /\b\w*error\b/i.test(one)) ?? all.at(-1) ?? '';
    const { exitCode, signalCode } = this.child;
    const how =
      exitCode === null ? (signalCode === null ? '' : `signal ${signalCode}`) : `exit code ${String(exitCode)}`;
    return [printable(line.trim().slice(0, 300)), how].filter((words) => words !== '').join(', ');
  }
}

/** Characters of a line of output that are passed on. */
const lineCharacters = 1_000;

function lines(stream: Readable, onLine: (line: string) => void, onText?: (text: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    onText?.(text);
    const all = (rest + text).split('\n');
    rest = (all.pop() as string).slice(0, lineCharacters);
    for (const line of all) if (line.trim() !== '') onLine(printable(line.slice(0, lineCharacters)));
  });
  stream.on('error', () => undefined);
}
