import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { printable, ToolUnavailableError } from '@sluice/core';
import type { ToolFile } from '@sluice/core';
import type { ToolContract } from '@sluice/tools';
import { contractOf } from './contract-of.js';
import { checkedDescription } from './description.js';
import { receivedError } from './errors.js';
import type { ToolDescription } from './messages.js';
import { networkNamespace } from './network/namespace.js';
import { ProcessEndedError, ToolProcess } from './tool-process.js';
import type { ProcessEnd, Task, TaskEnd } from './tool-process.js';

/** A tool of a file, and the bytes it was made from. */
export interface LoadedTool {
  readonly contract: ToolContract;
  readonly file: ToolFile;
  /** What the file uses of Node for a network. */
  readonly networkUses: readonly string[];
  /** What the file uses that no tool has. */
  readonly closedUses: readonly string[];
}

interface ToolProcessesOptions {
  /** How long a file may take to load, milliseconds. */
  readonly loadMs?: number;
  /** A process of the file ended otherwise than because it was not needed. */
  onEnd?(path: string, type: string, end: ProcessEnd, words: string): void;
  /** A line that the tool wrote. */
  onOutput?(path: string, line: string): void;
}

/** Processes that one file has at a time; calls beyond them wait. */
export const processesPerFile = 8;
/** How long a file may take to load, milliseconds. */
const loadMs = 30_000;
/** Characters of what a call changed that are named. */
const namedCharacters = 100;
/** How long a process without a call is kept, milliseconds. */
const idleMs = 30_000;

/**
 * The tool files of a service, each in processes of its own: no call of a tool can end, block or fill the service,
 * nor another call. A process has one call at a time, is begun when it is needed, and is used again for the next call
 * of its file.
 */
export class ToolProcesses {
  private readonly files = new Map<string, FileProcesses>();
  private isClosed = false;

  constructor(private readonly options: ToolProcessesOptions = {}) {}

  /** Loads a tool in a process. Throws an Error whose sentence says what the file lacks. */
  async load(path: string): Promise<LoadedTool> {
    const real = await realpath(path);
    const source = await readFile(real);
    if (this.isClosed) throw new Error('The service is being stopped.');
    const hash = createHash('sha256').update(source).digest('hex');
    const name = `${real}\n${hash}`;
    let file = this.files.get(name);
    if (file === undefined) this.files.set(name, (file = new FileProcesses(path, real, source, this.options)));
    try {
      const description = await file.describe();
      const { network, networkUses, closedUses } = description;
      const declared = network === 'none' ? {} : { network };
      const uses = { networkUses, closedUses };
      return { contract: contractOf(description, file), file: { path, hash, ...declared }, ...uses };
    } catch (error) {
      this.files.delete(name);
      await file.close();
      throw error;
    }
  }

  /** Ends all processes, with what they are doing. They are gone when this returns. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.files.values()].map((file) => file.close()));
  }
}

/** The processes of one file, as it was when it was read. */
export class FileProcesses {
  private readonly all = new Set<ToolProcess>();
  private readonly idle: { readonly process: ToolProcess; readonly timer: NodeJS.Timeout }[] = [];
  private readonly waiting: (() => void)[] = [];
  private busy = 0;
  private type = '';
  private network: 'closed' | 'open' = 'closed';
  private description: Promise<ToolDescription> | undefined;
  private notesAll = false;
  private isClosed = false;

  constructor(
    private readonly path: string,
    private readonly realPath: string,
    private readonly source: Buffer,
    private readonly options: ToolProcessesOptions,
  ) {}

  /** What the file defines. */
  describe(): Promise<ToolDescription> {
    return (this.description ??= this.loadFirst());
  }

  /** Runs the task in a process that has nothing else to do. */
  async run(task: Task): Promise<TaskEnd> {
    await this.enter(task.signal);
    try {
      let process = this.free() ?? (await this.beginForCall());
      let end = await process.run(task);
      // The first task of a process is never refused for that, so this comes to an end.
      while (end.say === 'stale') {
        this.endStale(process, end);
        process = this.free() ?? (await this.beginForCall());
        end = await process.run(task);
      }
      this.keep(process);
      return end;
    } finally {
      this.leave();
    }
  }

  /** Nothing of the call has happened yet. */
  private async beginForCall(): Promise<ToolProcess> {
    try {
      return (await this.begin()).process;
    } catch (error) {
      throw new ToolUnavailableError('The tool’s process cannot be started.', { cause: error });
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const { timer } of this.idle) clearTimeout(timer);
    for (const process of this.all) process.kill('closed');
    await Promise.all([...this.all].map((process) => process.ended));
  }

  private async loadFirst(): Promise<ToolDescription> {
    const { process, tool } = await this.begin().catch((error: unknown) => {
      throw error instanceof ProcessEndedError ? notLoaded(error) : error;
    });
    const description = checkedDescription(tool);
    this.type = description.type;
    // What the file asks for is known only now; its calls have it, and the process that loaded it first does not.
    if (description.network !== 'open') this.keep(process);
    else {
      process.kill('closed');
      this.network = 'open';
    }
    return description;
  }

  private async begin(): Promise<{ readonly process: ToolProcess; readonly tool: ToolDescription }> {
    const namespace = await networkNamespace();
    // Looked at right before the process starts: `close` ends those that it finds.
    if (this.isClosed) throw new Error('The service is being stopped.');
    const { network } = this;
    const process = new ToolProcess(this.realPath, network, namespace, (line) =>
      this.options.onOutput?.(this.path, line),
    );
    this.all.add(process);
    void process.ended.then(({ end, words }) => {
      this.all.delete(process);
      if (end !== 'closed') this.options.onEnd?.(this.path, this.type, end, words);
    });
    const source = this.source.toString('base64');
    const path = this.realPath;
    const end = await process.run({
      message: (n) => ({ do: 'load', n, path, source, all: this.notesAll }),
      signal: null,
      timeMs: this.options.loadMs ?? loadMs,
    });
    if (end.say === 'loaded') return { process, tool: end.tool };
    process.kill('closed');
    throw end.say === 'threw'
      ? receivedError(end.error)
      : new Error('Its process sent an answer that was not asked for.');
  }

  private free(): ToolProcess | undefined {
    for (let last = this.idle.pop(); last !== undefined; last = this.idle.pop()) {
      clearTimeout(last.timer);
      if (!last.process.isUsable) continue;
      last.process.ref();
      return last.process;
    }
    return undefined;
  }

  /** What a call changed of that which all code of a process shares does not outlive it. */
  private endStale(process: ToolProcess, { changed }: Extract<TaskEnd, { say: 'stale' }>): void {
    if (changed === null) this.notesAll = true;
    else {
      const what = printable(String(changed)).slice(0, namedCharacters);
      this.options.onOutput?.(this.path, `changed ${what} in a call, so its process was ended`);
    }
    process.kill('closed');
  }

  private keep(process: ToolProcess): void {
    if (this.isClosed || !this.all.has(process)) return;
    process.unref();
    const timer = setTimeout(() => process.kill('closed'), idleMs).unref();
    const entry = { process, timer };
    this.idle.push(entry);
    void process.ended.then(() => {
      const at = this.idle.indexOf(entry);
      if (at !== -1) this.idle.splice(at, 1);
      clearTimeout(timer);
    });
  }

  private async enter(signal: AbortSignal | null): Promise<void> {
    signal?.throwIfAborted();
    if (this.busy < processesPerFile) {
      this.busy++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.waiting.splice(this.waiting.indexOf(enter), 1);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.waiting.push(enter);
    });
  }

  private leave(): void {
    const next = this.waiting.shift();
    if (next !== undefined) next();
    else this.busy--;
  }
}

/** Why a file could not be loaded whose process ended meanwhile, as a sentence about the file. */
function notLoaded({ end, words }: ProcessEndedError): Error {
  if (end === 'time')
    return new Error('It was not loaded in its time: what it does beside its default export takes too long.');
  if (end === 'memory') return new Error('It needs more memory than a tool may have to be loaded.');
  return new Error(`Its process ended while it was loaded${words === '' ? '' : `: ${words}`}.`);
}
