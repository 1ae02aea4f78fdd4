import { Inject, Injectable } from '@nestjs/common';
import type { Configuration, Verifier } from '@sluice/core';
import { inForceOf, judgedConfigurations } from '@sluice/run';
import type { AppliedConfiguration, JudgedConfiguration } from '@sluice/run';
import { openVerifier, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Refusal } from '../refusal.js';

/** So long what was read of agent.config is read no second time, milliseconds. */
const sharedMs = 1_000;
/** Versions whose number of tools is remembered. */
const countsKept = 1_000;

/** A version of the configuration, as it was last put in force. */
export interface Version {
  readonly applied: AppliedConfiguration;
  readonly configuration: Configuration;
  readonly isInForce: boolean;
}

/** The configurations on agent.config. */
@Injectable()
export class Versions {
  private readonly verifier: Verifier;
  private readonly tools = new Map<string, number | null>();
  private shared: Promise<readonly JudgedConfiguration[]> | null = null;

  constructor(@Inject(RUNTIME) private readonly runtime: Runtime) {
    this.verifier = openVerifier(runtime.environment, runtime.signatures);
  }

  /** All of them, the oldest first. */
  all(): Promise<readonly JudgedConfiguration[]> {
    if (this.shared !== null) return this.shared;
    const found = judgedConfigurations(this.runtime.bus, this.verifier);
    this.shared = found;
    const forget = (): void => {
      if (this.shared === found) this.shared = null;
    };
    // What could not be read is read again; and no content of old versions is held for longer.
    found.catch(forget);
    setTimeout(forget, sharedMs).unref();
    return found;
  }

  /** What was read before may lack what was just applied. */
  forget(): void {
    this.shared = null;
  }

  /** The one with this name; `current` is the one in force. Throws Refusal(404). */
  async named(name: string): Promise<Version> {
    const applied = (await this.all()).flatMap((one) => (one.refused === null ? [one.applied] : []));
    const last = inForceOf(applied);
    const found = name === 'current' ? last : applied.findLast(({ version }) => version === name);
    if (found === undefined) throw notFound();
    return { applied: found, configuration: read(found), isInForce: found.version === last?.version };
  }

  /** The one that was in force before this one; null for the first. */
  async before({ applied }: Version): Promise<Version | null> {
    const all = (await this.all()).flatMap((one) => (one.refused === null ? [one.applied] : []));
    const place = all.lastIndexOf(applied);
    const found = all.slice(0, Math.max(0, place)).findLast(({ version }) => version !== applied.version);
    return found === undefined ? null : { applied: found, configuration: read(found), isInForce: false };
  }

  /** How many tools it has; null where it can no longer be read. */
  toolsOf(applied: AppliedConfiguration): number | null {
    const known = this.tools.get(applied.version);
    if (known !== undefined) return known;
    let count: number | null = null;
    try {
      count = applied.read().tools.length;
    } catch {
      // A part of it is missing, or it is of a shape that is no longer read.
    }
    if (this.tools.size >= countsKept) this.tools.clear();
    this.tools.set(applied.version, count);
    return count;
  }
}

function read(applied: AppliedConfiguration): Configuration {
  try {
    const configuration = applied.read() as Configuration | undefined;
    if (configuration !== undefined) return configuration;
  } catch {
    // Said below.
  }
  throw new Refusal(404, 'not_found', `The configuration ${applied.version} is on the log and can no longer be read.`);
}

function notFound(): Refusal {
  const message = 'There is no configuration of this version. GET /v1/configurations lists those there are.';
  return new Refusal(404, 'not_found', message);
}
