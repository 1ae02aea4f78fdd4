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
import { readers } from '../check/observed.ts';
import type { Asked, Observed, Spoiled } from '../check/observed.ts';
import { webhooksAgain } from '../check/webhooks.ts';
import { audited } from '../parts/audited.ts';
import { startEffects } from '../parts/effects.ts';
import type { Effects } from '../parts/effects.ts';
import { startModel } from '../parts/model.ts';
import { nextRun, requestOf } from '../parts/next-run.ts';
import { notifyingConfiguration, receiverVariables, startReceiver } from '../parts/receiver.ts';
import type { Receiver } from '../parts/receiver.ts';
import { command, commandLine, surroundings } from '../parts/services.ts';
import type { Random } from '../random.ts';
import { actingConfiguration } from '../../harness/acting-configuration.ts';
import { mayPass } from '../parts/world.ts';
import { contentOnDisk } from './content.ts';
import { readLogFile } from './log-file.ts';

const patienceMs = 120_000;
const crashModule = join(import.meta.dirname, 'crash-at-commit.mjs');
/** Topics that the audit does not follow. */
const besideLoop: readonly string[] = ['agent.audit', 'agent.progress', 'agent.notifications'];
const busModule = join(import.meta.dirname, '..', '..', '..', 'libs', 'bus', 'src', 'index.ts');

/** The parts of the bus that are used. */
interface UsedBus {
  readonly openSqliteBus: typeof openSqliteBus;
}

type LoopTopic = (typeof readers)[number]['topic'];
/** Puts bytes on the log; returns their offset. */
type Append = (topic: LoopTopic, key: string, value: Buffer) => Promise<number>;

interface Parts {
  readonly effects: Effects;
  readonly receiver: Receiver;
  readonly close: () => Promise<void>;
}

/** Sluice in one process on a log file, asked over the file as another process may. */
export class Embedded {
  private readonly folder: string;
  private readonly configFile: string;
  private readonly asked: Asked[] = [];
  private readonly spoiled: Spoiled[] = [];
  private readonly parts: Parts;
  private readonly append: Append;
  private process: ChildProcess | null = null;
  /** What the processes wrote so far. */
  private said = '';
  /** How many pieces of content the steps name. */
  private named = 0;

  private constructor(folder: string, configFile: string, parts: Parts, append: Append) {
    this.folder = folder;
    this.configFile = configFile;
    this.parts = parts;
    this.append = append;
  }

  /** `data` is the folder of the log, which may be on another disk. */
  static async open(folder: string, data: string): Promise<Embedded> {
    mkdirSync(folder, { recursive: true });
    mkdirSync(data, { recursive: true });
    const configFile = join(folder, 'sluice.yaml');
    const nobodyDies = (): boolean => false;
    const [model, effects, receiver] = await Promise.all([
      startModel(nobodyDies),
      startEffects(nobodyDies),
      startReceiver(nobodyDies),
    ]);
    writeFileSync(configFile, actingConfiguration(model.url, effects.url) + notifyingConfiguration(receiver.url));
    const compiled = (await import(pathToFileURL(busModule).href)) as UsedBus;
    const bus = await compiled.openSqliteBus({
      file: join(data, 'log.sqlite'),
      clock: { now: () => Date.now() },
      instance: 'the fault suite',
      processId: process.pid,
      isAlive: () => true,
    });
    const append: Append = (topic, key, value) => bus.appendRaw(topic, key, value);
    const close = async (): Promise<void> => {
      await bus.close();
      await Promise.all([model.close(), effects.close(), receiver.close()]);
    };
    return new Embedded(data, configFile, { effects, receiver, close }, append);
  }

  /**
   * Starts the process; `before` is what a shell does first, such as setting a limit, and `more` are variables of its
   * environment.
   */
  start(before = '', more: Readonly<Record<string, string>> = {}): void {
    const [command, ...args] = commandLine(['start']);
    const child = spawn('sh', ['-c', `${before} exec "$@"`, 'sh', command ?? '', ...args], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...surroundings(),
        ...receiverVariables,
        SLUICE_DATA: this.folder,
        SLUICE_CONFIG: this.configFile,
        ...more,
      },
    });
    const keep = (piece: Buffer): void => {
      this.said += piece.toString();
      appendFileSync(`${this.configFile}.log`, piece);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    this.process = child;
  }

  /**
   * Starts it, and lets it die at a point of `crash-at-commit.mjs` once it has served so long. False where it lives on.
   */
  async diesAt(point: string, servesMs: number): Promise<boolean> {
    this.said = '';
    this.start('', { SLUICE_FAULT_CRASH: point, NODE_OPTIONS: `--import=${crashModule}` });
    await this.serves();
    await sleep(servesMs);
    this.process?.kill('SIGUSR2');
    for (const until = Date.now() + patienceMs; this.runs && Date.now() < until;) await sleep(20);
    const died = !this.runs;
    await this.end('SIGKILL');
    return died;
  }

  /** Resolves when it says that it serves. */
  async serves(): Promise<void> {
    if (!(await this.says('It keeps serving')))
      throw new Error(`The embedded process did not come to serve: ${this.said}`);
  }

  /** Whether it says this, now or in good time. */
  async says(text: string): Promise<boolean> {
    for (const until = Date.now() + patienceMs; this.runs && Date.now() < until; await sleep(50))
      if (this.said.includes(text)) return true;
    return this.said.includes(text);
  }

  /** Whether it lives, as it should. */
  get runs(): boolean {
    return this.process !== null && this.process.exitCode === null && this.process.signalCode === null;
  }

  /** Ends it, with kill -9 or in order, and waits until it is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.process;
    this.process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  /** Asks for so many runs; some share a session, some are asked for twice. */
  async ask(count: number, everyMs: number, random: Random): Promise<void> {
    for (let left = count; left > 0; left--) {
      const run = nextRun(this.asked, random);
      this.asked.push(run);
      for (let times = run.repeated ? 2 : 1; times > 0; times--)
        await this.put(run.topic, run.sessionId, Buffer.from(requestOf(run)));
      await sleep(everyMs);
    }
  }

  /** Puts bytes that nobody can read where each group reads. */
  async spoil(random: Random): Promise<void> {
    for (const { topic, group } of random.shuffled(readers)) {
      const offset = await this.put(topic, 'spoiled', Buffer.from(`U${random.between(0, 1_000_000)}`));
      const runId = topic === 'agent.requests' || topic === 'agent.calls' ? `${topic}-0-${offset}` : null;
      this.spoiled.push({ topic, partition: 0, offset, group, code: 'undecodable', runId });
    }
  }

  /** A disk that is full refuses what is put on the log: it is put there until it is taken. */
  private async put(topic: LoopTopic, key: string, value: Buffer): Promise<number> {
    for (const until = Date.now() + patienceMs; ; await sleep(200)) {
      try {
        return await this.append(topic, key, value);
      } catch (error) {
        if (Date.now() > until) throw error;
      }
    }
  }

  /** Whether what is committed agrees with what has outputs, now. */
  lookOn(): readonly string[] {
    const { found, committed } = this.read();
    return agreement({ before: committed, found, after: committed, asked: this.asked, spoiled: this.spoiled });
  }

  /** Waits until all has come to its end, then returns each broken promise. */
  async settle(): Promise<readonly string[]> {
    for (const until = Date.now() + patienceMs; ; await sleep(300)) {
      const content = await contentOnDisk(join(this.folder, 'content'), this.read().found);
      this.named = content.named;
      const said = [...violations(this.observed()), ...content.said, ...(await this.audited())];
      if (content.named === 0) said.push('No step names content: it was not tried.');
      if (!said.some(mayPass) || Date.now() > until) return said;
    }
  }

  summary(): string {
    const observed = this.observed();
    const { asked, found, effects, webhooks } = observed;
    return `${asked.length} runs, ${found.length} records, ${effects.size} effects, ${this.named} pieces of content, ${webhooks.length} webhooks and ${webhooksAgain(observed)} of them again, ${unknownOutcomes({ found })} declared outcome_unknown`;
  }

  async close(): Promise<void> {
    await this.end('SIGTERM');
    await this.parts.close();
  }

  private async audited(): Promise<readonly string[]> {
    const { found } = this.read();
    const auditor = (args: readonly string[]): Promise<string> => command(args, { SLUICE_DATA: this.folder }, [0, 1]);
    const onLoop = found.filter(({ topic }) => !besideLoop.includes(topic));
    return audited(auditor, onLoop, this.spoiled);
  }

  private observed(): Observed {
    const { effects, receiver } = this.parts;
    const webhooks = [...receiver.webhooks];
    return { ...this.read(), asked: this.asked, spoiled: this.spoiled, effects: new Map(effects.done), webhooks };
  }

  private read() {
    return readLogFile(join(this.folder, 'log.sqlite'));
  }
}
