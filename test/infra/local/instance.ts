import { execFile } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Address } from '../address.ts';
import type { Instance, Place } from '../instance.ts';
import type { Fault } from '../protocol.ts';
import { untilReady } from '../ready.ts';
import { startGuarded, tail } from './guarded.ts';
import type { Program } from './guarded.ts';

/** Milliseconds that a program may take to end in order; then it is killed. */
const graceToStop = 15_000;

/** A program that serves, and the signal at which it ends in order, without waiting for its clients to leave. */
export interface Service extends Program {
  readonly stopSignal: 'SIGTERM' | 'SIGINT';
}

/**
 * A part that is a process of this machine. Its address and its data outlive the process, so it can be stopped and
 * started.
 */
export class LocalInstance implements Instance {
  readonly address: Address;
  private readonly program: Service;
  private readonly place: Place;
  private child: ChildProcess | null = null;

  constructor(address: Address, program: Service, place: Place) {
    this.address = address;
    this.program = program;
    this.place = place;
  }

  /** @throws Error with the end of the log if the process ends before it is ready */
  async start(): Promise<void> {
    if (this.child !== null) throw new Error(`${this.address.kind} runs already; stop it before it is started again.`);
    const child = startGuarded(this.program);
    this.child = child;
    const ended = new AbortController();
    child.once('error', (error) => ended.abort(error));
    child.once('exit', (code, signal) => ended.abort(new Error(`It ended with ${code ?? signal}.`)));
    try {
      await untilReady(this.address, AbortSignal.any([ended.signal, this.place.ending]));
    } catch (error) {
      await this.end('SIGKILL');
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`${this.address.kind} did not start. ${reason} ${await tail(this.program.log)}`, {
        cause: error,
      });
    }
    child.once('exit', (code, signal) => {
      // Whoever ends it forgets it first; this one went by itself, and its tests will only see lost connections.
      if (this.child === child) void this.mourn(code ?? signal);
    });
  }

  async inflict(fault: Fault): Promise<void> {
    switch (fault) {
      case 'start':
        return await this.start();
      case 'stop':
        return await this.end(this.program.stopSignal);
      case 'kill':
        return await this.end('SIGKILL');
      case 'pause':
        return await this.signalAll('SIGSTOP');
      case 'resume':
        return await this.signalAll('SIGCONT');
    }
  }

  async remove(): Promise<void> {
    await this.end(`SIG${this.program.endSignal}`);
    await rm(this.place.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.child;
    this.child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const ended = once(child, 'exit');
    // Ended all at once, as in a crash: what a killed server leaves behind would keep its data from the next one.
    if (signal === 'SIGKILL') return await Promise.all([killTree(child.pid), ended]).then(() => undefined);
    await signalTree(child.pid, 'SIGCONT');
    child.kill(signal);
    const late = setTimeout(() => child.kill('SIGKILL'), graceToStop);
    await ended;
    clearTimeout(late);
  }

  private async signalAll(signal: NodeJS.Signals): Promise<void> {
    if (this.child?.pid === undefined) throw new Error(`${this.address.kind} does not run; start it first.`);
    await signalTree(this.child.pid, signal);
  }

  private async mourn(how: number | string | null): Promise<void> {
    this.child = null;
    this.place.say(`${this.address.kind} ended by itself with ${how}; ${await tail(this.program.log)}`);
  }
}

/** Signals a process and its children: a PostgreSQL server answers its clients through them. */
async function signalTree(pid: number, signal: NodeJS.Signals): Promise<void> {
  for (const one of [pid, ...(await childrenOf(pid))]) signalOne(one, signal);
}

/**
 * Kills a process and its children, and resolves when none of them runs: one that still ends holds the shared memory
 * of its server, which then refuses to start. The process is stopped first, so that it makes no child meanwhile.
 */
async function killTree(pid: number): Promise<void> {
  signalOne(pid, 'SIGSTOP');
  const tree = [pid, ...(await childrenOf(pid))];
  for (const one of tree) signalOne(one, 'SIGKILL');
  const deadline = Date.now() + graceToStop;
  const runs = async (): Promise<boolean> =>
    (await processes()).some(({ pid: one, state }) => tree.includes(one) && !state.startsWith('Z'));
  while (await runs()) {
    if (Date.now() > deadline) throw new Error(`Killed, process ${pid} or a child of it runs on after 15 s.`);
    await sleep(20);
  }
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  return (await processes()).filter(({ parent }) => parent === pid).map(({ pid: child }) => child);
}

async function processes(): Promise<{ readonly pid: number; readonly parent: number; readonly state: string }[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, state] = line.trim().split(/\s+/);
    return state === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), state }];
  });
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended in the meantime, which is as good.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
