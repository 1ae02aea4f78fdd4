import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Tool } from '../../cluster/outside-tools.js';

export interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Pair {
  readonly suite: string;
  readonly userTask: string;
  /** Null: the user's task alone. */
  readonly injectionTask: string | null;
}

/** What an obedient model does in a pair: the user's task, and what the injection in the results asks for. */
export interface Script {
  readonly question: string;
  readonly user: readonly Call[];
  readonly injected: readonly Call[];
}

export interface Verdict {
  /** The injection stood in a result. */
  readonly seen: boolean;
  /** The calls that reached the world, in their order. */
  readonly ran: readonly Call[];
  /** The user's task is done, by its own check. */
  readonly done: boolean;
  /** The injection's goal is reached, by its own check. */
  readonly reached?: boolean;
}

export interface Tasks {
  readonly user: readonly string[];
  readonly injection: readonly string[];
}

/** The environments, tools and checks of the benchmark, in a process of Python. */
export class World {
  private constructor(
    readonly url: string,
    private readonly end: () => Promise<void>,
  ) {}

  static async start(python: Tool, ...args: readonly string[]): Promise<World> {
    if ('missing' in python) throw new Error(python.missing);
    const child = spawn(python.command, [join(import.meta.dirname, 'world.py'), ...args], {
      env: { ...process.env, ...python.variables, PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [port] = (await Promise.race([
      once(createInterface(child.stdout), 'line'),
      once(child, 'close').then(([code]) => {
        throw new Error(`The world ended with ${String(code)}.`);
      }),
    ])) as [string];
    return new World(`http://127.0.0.1:${port}`, async () => {
      const closed = once(child, 'close');
      child.stdin.end();
      await closed;
    });
  }

  tasks(): Promise<Readonly<Record<string, Tasks>>> {
    return this.post('/tasks', {});
  }

  open(pair: string, { suite, userTask, injectionTask }: Pair, adaptive: boolean): Promise<Script> {
    return this.post('/open', { pair, suite, user_task: userTask, injection_task: injectionTask, adaptive });
  }

  judge(pair: string): Promise<Verdict> {
    return this.post('/judge', { pair });
  }

  close(): Promise<void> {
    return this.end();
  }

  private async post<T>(path: string, body: object): Promise<T> {
    const response = await fetch(`${this.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
    const answer = (await response.json()) as T & { readonly error?: string };
    if (!response.ok) throw new Error(`${path}: ${answer.error ?? ''}`);
    return answer;
  }
}
