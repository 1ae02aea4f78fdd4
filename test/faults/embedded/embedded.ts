import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { openSqliteBus } from '@sluice/bus';
import { agreement } from '../check/agreement.ts';
import { violations } from '../check/check.ts';
import { unknownOutcomes } from '../check/effects.ts';
import type { Asked, Observed } from '../check/observed.ts';
import { startEffects } from '../parts/effects.ts';
import type { Effects } from '../parts/effects.ts';
import { startModel } from '../parts/model.ts';
import { commandLine, surroundings } from '../parts/services.ts';
import { actingConfiguration } from '../../harness/acting-configuration.ts';
import { mayPass } from '../parts/world.ts';
import { readLogFile } from './log-file.ts';

const patienceMs = 120_000;
const busModule = join(import.meta.dirname, '..', '..', '..', 'dist', 'libs', 'bus', 'src', 'index.js');

/** The parts of the compiled bus that are used: the sources name each other in ways that only the build resolves. */
interface CompiledBus {
  readonly openSqliteBus: typeof openSqliteBus;
}

interface Parts {
  readonly effects: Effects;
  readonly close: () => Promise<void>;
}

/** Sluice in one process on a log file, asked over the file as another process may. */
export class Embedded {
  readonly #folder: string;
  readonly #asked: Asked[] = [];
  readonly #parts: Parts;
  readonly #publish: (run: Asked) => Promise<unknown>;
  #process: ChildProcess | null = null;
  /** What the processes wrote so far. */
  #said = '';

  private constructor(folder: string, parts: Parts, publish: (run: Asked) => Promise<unknown>) {
    this.#folder = folder;
    this.#parts = parts;
    this.#publish = publish;
  }

  /** `data` is the folder of the log, which may be on another disk. */
  static async open(folder: string, data: string): Promise<Embedded> {
    mkdirSync(data, { recursive: true });
    const nobodyDies = (): boolean => false;
    const [model, effects] = await Promise.all([startModel(nobodyDies), startEffects(nobodyDies)]);
    writeFileSync(join(folder, 'sluice.yaml'), actingConfiguration(model.url, effects.url));
    const compiled = (await import(pathToFileURL(busModule).href)) as CompiledBus;
    const bus = await compiled.openSqliteBus({
      file: join(data, 'log.sqlite'),
      clock: { now: () => Date.now() },
      instance: 'the fault suite',
      processId: process.pid,
      isAlive: () => true,
    });
    const publish = ({ runId, sessionId }: Asked): Promise<number> =>
      bus.appendRaw(
        'agent.requests',
        sessionId,
        Buffer.from(
          JSON.stringify({
            question: `Do run ${runId} now`,
            group: ['work'],
            request_id: runId,
            session_id: sessionId,
          }),
        ),
      );
    const close = async (): Promise<void> => {
      await bus.close();
      await Promise.all([model.close(), effects.close()]);
    };
    return new Embedded(data, { effects, close }, publish);
  }

  /** Starts the process; `before` is what a shell does first, such as setting a limit. */
  start(configFile: string, before = ''): void {
    const [command, ...args] = commandLine(['start']);
    const child = spawn('sh', ['-c', `${before} exec "$@"`, 'sh', command ?? '', ...args], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...surroundings(), SLUICE_DATA: this.#folder, SLUICE_CONFIG: configFile },
    });
    const keep = (piece: Buffer): void => {
      this.#said += piece.toString();
      appendFileSync(`${configFile}.log`, piece);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    this.#process = child;
  }

  /** Resolves when it says that it serves. */
  async serves(): Promise<void> {
    if (!(await this.says('It keeps serving')))
      throw new Error(`The embedded process did not come to serve: ${this.#said}`);
  }

  /** Whether it says this, now or in good time. */
  async says(text: string): Promise<boolean> {
    for (const until = Date.now() + patienceMs; this.runs && Date.now() < until; await sleep(50))
      if (this.#said.includes(text)) return true;
    return this.#said.includes(text);
  }

  /** Whether it lives, as it should. */
  get runs(): boolean {
    return this.#process !== null && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Ends it, with kill -9 or in order, and waits until it is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  /** Asks for so many runs. A disk that is full refuses them: they are asked for until they are taken. */
  async ask(count: number, everyMs: number): Promise<void> {
    for (let left = count; left > 0; left--) {
      const number = this.#asked.length + 1;
      const run = { runId: `r-${number}`, sessionId: `s-${number}`, repeated: false };
      for (const until = Date.now() + patienceMs; ; await sleep(200)) {
        try {
          await this.#publish(run);
          break;
        } catch (error) {
          if (Date.now() > until) throw error;
        }
      }
      this.#asked.push(run);
      await sleep(everyMs);
    }
  }

  /** Whether what is committed agrees with what has outputs, now. */
  lookOn(): readonly string[] {
    const { found, committed } = this.#read();
    return agreement({ before: committed, found, after: committed, asked: this.#asked, spoiled: [] });
  }

  /** Waits until all has come to its end, then returns each broken promise. */
  async settle(): Promise<readonly string[]> {
    for (const until = Date.now() + patienceMs; ; await sleep(300)) {
      const said = violations(this.#observed());
      if (!said.some(mayPass) || Date.now() > until) return said;
    }
  }

  summary(): string {
    const { asked, found, effects } = this.#observed();
    return `${asked.length} runs, ${found.length} records, ${effects.size} effects, ${unknownOutcomes({ found })} declared outcome_unknown`;
  }

  async close(): Promise<void> {
    await this.end('SIGTERM');
    await this.#parts.close();
  }

  #observed(): Observed {
    return { ...this.#read(), asked: this.#asked, spoiled: [], effects: new Map(this.#parts.effects.done) };
  }

  #read() {
    return readLogFile(join(this.#folder, 'log.sqlite'));
  }
}
