import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const roles = ['filter', 'agent', 'executor', 'audit', 'notifier'] as const;
export type Role = (typeof roles)[number];

const main = join(import.meta.dirname, '..', '..', '..', 'dist', 'main.js');
/** Before an instance that ended is started again, as a supervisor would, milliseconds. */
const restartMs = 500;
const endMs = 30_000;

interface Instance {
  readonly role: Role;
  readonly child: ChildProcess;
  /** It ends because somebody wanted it to. */
  wanted: boolean;
}

/**
 * The services as processes, kept running as a supervisor does: one that ends without being asked to is started
 * again.
 */
export class Services {
  private readonly variables: (role: Role) => Readonly<Record<string, string>>;
  private readonly log: string;
  private readonly instances = new Set<Instance>();
  private readonly say: (line: string) => void;
  private closed = false;

  constructor(variables: (role: Role) => Readonly<Record<string, string>>, log: string, say: (line: string) => void) {
    this.variables = variables;
    this.log = log;
    this.say = say;
  }

  /** Starts an instance; returns its process id at once. */
  start(role: Role): number {
    const child = launch(['serve', '--role', role], this.variables(role));
    const instance: Instance = { role, child, wanted: false };
    this.instances.add(instance);
    let last = '';
    const keep = (piece: Buffer): void => {
      last = piece.toString();
      appendFileSync(this.log, `${role} ${child.pid}: ${last}`);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    child.once('close', (code, signal) => {
      this.instances.delete(instance);
      if (instance.wanted || this.closed) return;
      this.say(`  ${role} ${child.pid} ended by itself (${code ?? signal}): ${last.trim().slice(-300)}`);
      setTimeout(() => this.closed || this.start(role), restartMs);
    });
    if (child.pid === undefined) throw new Error(`The process of ${role} did not start.`);
    return child.pid;
  }

  /** The process ids of a role, or of all. */
  running(role?: Role): number[] {
    return [...this.instances]
      .filter((instance) => (role === undefined || instance.role === role) && !instance.wanted)
      .flatMap(({ child }) => child.pid ?? []);
  }

  /** Ends it as a crash does. */
  kill(processId: number): void {
    this.end(processId, 'SIGKILL');
  }

  /** Asks it to end. */
  stop(processId: number): void {
    this.end(processId, 'SIGTERM');
  }

  /** It keeps its connections and does nothing. */
  pause(processId: number): void {
    this.find(processId)?.child.kill('SIGSTOP');
  }

  resume(processId: number): void {
    this.find(processId)?.child.kill('SIGCONT');
  }

  /** Starts what is missing of two instances a role. */
  complete(): void {
    for (const role of roles) for (let count = this.running(role).length; count < 2; count++) this.start(role);
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const { child } of this.instances) {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
    }
    for (const end = Date.now() + endMs; this.instances.size > 0 && Date.now() < end;) await sleep(50);
    for (const { child } of this.instances) child.kill('SIGKILL');
  }

  private end(processId: number, signal: NodeJS.Signals): void {
    const instance = this.find(processId);
    if (instance === undefined) return;
    instance.wanted = true;
    instance.child.kill(signal);
    if (signal !== 'SIGKILL') instance.child.kill('SIGCONT');
  }

  private find(processId: number): Instance | undefined {
    return [...this.instances].find(({ child }) => child.pid === processId);
  }
}

/** Runs a command to its end; returns what it wrote. Throws if it ends otherwise than with one of these codes. */
export async function command(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
  codes: readonly number[] = [0],
): Promise<string> {
  const child = launch(args, variables);
  let [written, said] = ['', ''];
  child.stdout?.on('data', (piece: Buffer) => (written += piece.toString()));
  child.stderr?.on('data', (piece: Buffer) => (said += piece.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  // Whoever finds something says what; what could not be done at all says so elsewhere.
  if (code === null || !codes.includes(code) || (code !== 0 && written === ''))
    throw new Error(`sluice ${args.join(' ')} ended with ${code}: ${said}${written}`);
  return written;
}

/** Runs the built command line. It hears of our death through the channel. */
function launch(args: readonly string[], variables: Readonly<Record<string, string>>): ChildProcess {
  const [command = '', ...rest] = commandLine(args);
  return spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...surroundings(), ...variables } });
}

export function commandLine(args: readonly string[]): readonly string[] {
  return [process.execPath, main, ...args];
}

/** What a process gets of this one's environment: what it needs. */
export function surroundings(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', NO_COLOR: '1', SLUICE_PORT: '0' };
}
