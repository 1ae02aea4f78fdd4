import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { serializeMessage } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { messageBytesByDefault } from './http-answer.js';
import { LineBuffer, printable } from '@sluice/core';
import { malformedAnswer, messageIn } from './message.js';
import { npmErrorIn } from './npm-error.js';

interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** All the variables the child has. */
  readonly environment: Readonly<Record<string, string>>;
  /** Of one line; absent for 10 MB. */
  readonly messageBytes?: number;
}

/** Takes secrets out of a text. */
export type Hide = (text: string) => string;

/** How long a child may take to end by itself, and then after SIGTERM, in milliseconds. */
const graceMs = 1_500;
/** Of stderr, in characters: more is kept than is quoted, so that no secret is cut in two before it is looked for. */
const keptErrorText = 8_192;
const quotedErrorText = 2_048;
const quotedLine = 300;
/** Bytes that may wait for a child that does not read what it is sent. */
const unreadBytes = 8_388_608;
/** Windows has no process groups: there only the child itself is ended. */
const hasGroups = process.platform !== 'win32';

/**
 * The stdio transport, in place of the SDK's own for three reasons: the child gets exactly the given variables (the
 * SDK adds its own choice of ours); it leads a process group, so that what it started (npx and shells start things)
 * ends with it; and calls that are made together are written together.
 */
export class StdioProcess implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Called with each line that is no JSON-RPC message, which servers write by mistake and print for people. */
  onnoise?: (line: string) => void;

  private child: ChildProcessWithoutNullStreams | undefined;
  private readonly messageBytes: number;
  private readonly buffer: LineBuffer;
  private errorText = '';
  private noise = '';
  private dead = false;
  private killedBecause: string | null = null;
  private draining: Promise<unknown> | undefined;
  private unsent = '';
  private sending: PromiseWithResolvers<void> | undefined;

  constructor(private readonly server: ServerCommand) {
    this.messageBytes = server.messageBytes ?? messageBytesByDefault;
    this.buffer = new LineBuffer(this.messageBytes);
  }

  /**
   * What the child last wrote to stderr, the one line that says most, as a sentence for an operator; else what it
   * last wrote to stdout that is no message, such as a question of npx. Empty if it wrote neither. `hide` sees the
   * whole before anything is cut.
   */
  lastWords(hide: Hide): string {
    const lines = linesOf(printable(hide(this.errorText)).slice(-quotedErrorText));
    const npm = npmErrorIn(lines);
    if (npm !== null) return ` ${npm.slice(0, quotedLine)}.`;
    const line = lines.findLast((one) => /\b\w*error\b/i.test(one)) ?? lines.at(-1);
    if (line !== undefined) return ` It wrote: ${line.slice(0, quotedLine)}`;
    const [noise] = linesOf(printable(hide(this.noise)));
    return noise === undefined ? '' : ` It wrote to its standard output: ${noise.slice(0, quotedLine)}`;
  }

  /** How the process came to its end, behind “The MCP server …”; null while it runs. */
  get ending(): string | null {
    if (this.killedBecause !== null) return `was ended: ${this.killedBecause}`;
    const { exitCode = null, signalCode = null } = this.child ?? {};
    if (signalCode !== null) return `was ended by the signal ${signalCode}`;
    return exitCode === null ? null : `ended with code ${exitCode}`;
  }

  get exitCode(): number | null {
    return this.child?.exitCode ?? null;
  }

  async start(): Promise<void> {
    const { command, args, environment } = this.server;
    const child = spawn(command, args, {
      env: environment,
      stdio: 'pipe',
      shell: false,
      detached: hasGroups,
      windowsHide: true,
    });
    this.child = child;
    child.stdout.on('data', (chunk: Buffer) => this.read(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errorText = (this.errorText + text).slice(-keptErrorText);
    });
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream.on('error', (error) => this.onerror?.(error));
    child.on('exit', () => this.signalGroup('SIGKILL'));
    child.on('close', () => this.onclose?.());
    await once(child, 'spawn');
    child.on('error', (error) => this.onerror?.(error));
  }

  /**
   * What is sent in one turn of the event loop goes out in one write, at its end: to write is the dearest part of a
   * call.
   */
  send(message: JSONRPCMessage): Promise<void> {
    const input = this.child?.stdin;
    if (input === undefined || input.destroyed) return Promise.reject(isGone());
    if (input.writableLength + this.unsent.length > unreadBytes) {
      this.kill('it does not read what it is sent');
      return Promise.reject(new Error('The server’s process does not read what it is sent.'));
    }
    this.unsent += serializeMessage(message);
    if (this.sending === undefined) {
      this.sending = Promise.withResolvers();
      process.nextTick(() => this.sendNow(input));
    }
    return this.sending.promise;
  }

  private sendNow(input: Writable): void {
    const { sending, unsent } = this;
    if (sending === undefined) return;
    this.sending = undefined;
    this.unsent = '';
    sending.resolve(this.write(input, unsent));
  }

  private async write(input: Writable, text: string): Promise<void> {
    if (input.destroyed) throw isGone();
    if (input.write(text)) return;
    // One wait for all who send: the child reads again for all of them.
    this.draining ??= once(input, 'drain').finally(() => (this.draining = undefined));
    try {
      await this.draining;
    } catch (error) {
      if (!(await this.hasEnded())) throw error;
      throw isGone(error);
    }
  }

  /**
   * A pipe that broke says only that it has no reader; why is known when the child has ended, mostly a moment later.
   */
  private async hasEnded(): Promise<boolean> {
    const { child } = this;
    const ended = (): boolean => child === undefined || child.exitCode !== null || child.signalCode !== null;
    if (child !== undefined && !ended())
      await Promise.race([once(child, 'exit'), sleep(graceMs, undefined, { ref: false })]);
    return ended();
  }

  /**
   * Ends the child and everything it started, at once, for a reason as in “it floods us”; nothing of what it still
   * says is read.
   */
  kill(because: string): void {
    this.killedBecause ??= because;
    this.dead = true;
    this.buffer.clear();
    this.signalGroup('SIGKILL');
  }

  /**
   * Ends the child and everything it started: its input first, then SIGTERM, then SIGKILL. It is gone when this
   * returns.
   */
  async close(): Promise<void> {
    const { child } = this;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    this.sendNow(child.stdin);
    child.stdin.end();
    const waited = await Promise.race([gone, sleep(graceMs, 'late', { ref: false })]);
    if (waited === 'late') this.signalGroup('SIGTERM');
    const waitedAgain = await Promise.race([gone, sleep(graceMs, 'late', { ref: false })]);
    if (waitedAgain === 'late') this.signalGroup('SIGKILL');
    await gone;
  }

  private read(chunk: Buffer): void {
    if (this.dead) return;
    try {
      for (const line of this.buffer.add(chunk)) {
        this.readLine(line);
        if (this.dead) return;
      }
    } catch (error) {
      // A line larger than the buffer: nothing tells how much more of it there is.
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      this.kill(
        `it wrote a line of more than ${this.messageBytes} bytes, which message_megabytes of the server raises`,
      );
    }
  }

  /**
   * What is no message is ignored, as the SDKs do: nothing was lost by it, unless it was meant as the answer to a
   * call.
   */
  private readLine(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = messageIn(line);
    } catch {
      if (line.trim() !== '') this.noise = line;
      this.onnoise?.(line);
      const answer = malformedAnswer(line);
      if (answer !== null) this.onmessage?.(answer);
      return;
    }
    this.onmessage?.(message);
  }

  private signalGroup(signal: NodeJS.Signals): void {
    const pid = this.child?.pid;
    if (pid === undefined) return;
    try {
      if (hasGroups) process.kill(-pid, signal);
      else this.child?.kill(signal);
    } catch (error) {
      // The group is empty: that is what was wanted.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

function isGone(cause?: unknown): Error {
  return new Error('The server’s process is gone.', { cause });
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}
