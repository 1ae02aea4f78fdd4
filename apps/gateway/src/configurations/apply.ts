import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Configuration, Principal } from '@sluice/core';
import { applyConfiguration, isApplied } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Refusal } from '../refusal.js';
import { Candidates } from './candidates.js';
import { Versions } from './versions.js';

/** How long an answer waits until this process follows what it applied, milliseconds. */
const longestWaitMs = 5_000;

/**
 * Sections that say who may use what, and when. All others reach out of the system, as to models, servers and files,
 * or say who callers are: they are changed by the command alone.
 */
const sectionsOverHttp: readonly (keyof Configuration)[] = [
  ...(['version', 'tools', 'groupTree', 'groupFallbacks', 'rules', 'policy', 'limits', 'instructions'] as const),
  ...(['strategy', 'supervisor', 'memory', 'descriptions'] as const),
];

/** What became of a candidate. */
interface Applied {
  readonly config_version: string;
  readonly replaced: string;
  readonly status: 'applied' | 'in_force_already';
  readonly source: string;
  readonly signed: boolean;
  /** What the operator should know; null for nothing. */
  readonly note: string | null;
}

const isOther = (version: string): string =>
  `The configuration ${version} is in force by now. Look at what it changed first.`;

/** Puts candidates in force, on the embedded log alone. */
@Injectable()
export class Applying {
  /** One after the other: each is held against what is in force. */
  private before: Promise<unknown> = Promise.resolve();

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Candidates) private readonly candidates: Candidates,
    @Inject(Versions) private readonly versions: Versions,
  ) {}

  /** `replaces`: the version that must be in force; null for any. Throws Refusal with why it is not applied. */
  apply(text: string, replaces: string | null, operator: Principal): Promise<Applied> {
    const applied = this.before.then(() => this.applyNext(text, replaces, operator));
    this.before = applied.catch(() => undefined);
    return applied;
  }

  private async applyNext(text: string, replaces: string | null, operator: Principal): Promise<Applied> {
    const { environment, signatures, bus, clock, log } = this.runtime;
    if (environment.bus !== 'sqlite') throw conflict(byCommand);
    const candidate = await this.candidates.configurationOf(text);
    this.versions.forget();
    const last = await this.versions.named('current');
    if (replaces !== null && replaces !== last.applied.version) throw conflict(isOther(last.applied.version));
    this.candidates.requireTools(candidate);
    requireSameOutside(candidate, last.configuration);
    const { version } = candidate;
    const about = { config_version: version, replaced: last.applied.version };
    const applying = { signatures, isWhole: environment.toolsets === 'whole' };
    if (isApplied(version, last.applied, applying)) {
      const { source, recordSignature } = last.applied;
      return { ...about, status: 'in_force_already', source, signed: recordSignature !== null, note: null };
    }
    const source = await this.keep(text, version);
    // Writing took a while, and a file that is followed may have put another one in force.
    this.versions.forget();
    const now = await this.versions.named('current');
    if (now.applied.version !== last.applied.version) throw conflict(isOther(now.applied.version));
    const record = await applyConfiguration(bus, candidate, { source, compiledAt: clock.now() }, applying);
    const by = `${operator.actorId} of ${operator.tenantId}`;
    log.info({ config_version: version, by }, 'a configuration was applied over HTTP');
    this.versions.forget();
    await this.followed(version);
    return { ...about, status: 'applied', source, signed: record.recordSignature !== null, note: this.note() };
  }

  /** The text in the data folder, so that it can be read and edited again; returns its file. */
  private async keep(text: string, version: string): Promise<string> {
    const folder = join(this.runtime.environment.dataFolder, 'configurations');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, `${version}.yaml`);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  }

  private async followed(version: string): Promise<void> {
    const until = performance.now() + longestWaitMs;
    while (this.runtime.configurations.current().configuration.version !== version && performance.now() < until)
      await delay(20);
  }

  private note(): string | null {
    const { configFile } = this.runtime.environment;
    if (configFile === null) return null;
    return `SLUICE_CONFIG names ${configFile}, which is as it was: it is in force again at the next start, or once it is saved. Write this text there to keep it.`;
  }
}

function requireSameOutside(candidate: Configuration, current: Configuration): void {
  const others = (of: Configuration): ReadonlyMap<string, string> =>
    new Map(
      Object.entries(of)
        .filter(([section]) => !(sectionsOverHttp as readonly string[]).includes(section))
        .map(([section, value]) => [section, JSON.stringify(value)]),
    );
  const [was, is] = [others(current), others(candidate)];
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter((section) => was.get(section) !== is.get(section));
  if (changed.length === 0) return;
  throw conflict(
    `The candidate changes ${changed.join(', ')}, which reach out of the system or say who callers are and what they may, and are not changed over HTTP. Apply it with \`sluice config apply FILE\`.`,
  );
}

const byCommand =
  'On Kafka a configuration is applied by the command alone, by who has the keys: `sluice config apply FILE`.';

function conflict(message: string): Refusal {
  return new Refusal(409, 'conflict', message);
}
