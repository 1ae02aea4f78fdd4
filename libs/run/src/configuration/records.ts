import { trustedTimeOf } from '@sluice/bus';
import type { Verifier } from '@sluice/core';
import { ConfigurationContents, isPart, topics } from '@sluice/contracts';
import type { ConfigVersion } from '@sluice/contracts';
import { isSignedBy } from '../signing/signed-record.js';

/** A record of agent.config, and when the log took it, milliseconds since the epoch. */
interface Recorded {
  readonly record: ConfigVersion;
  readonly timestamp: number;
  readonly readAt?: number | undefined;
}

/** Why a record of agent.config takes no force, for operators. */
export const configurationRefusals = {
  not_its_hash: 'its version is not the hash of its content',
  unsigned: 'no key of the role config signed it',
  unknown_key: 'a key that is not here signed it',
  not_as_signed: 'it is not what was signed with a key of the role config',
} as const;

export type ConfigurationRefusal = keyof typeof configurationRefusals;

/** What a record of agent.config brings about. */
export interface Judgement {
  /** The record whose configuration is in force from here: this one, or one that waited for this part; else null. */
  readonly applies: ConfigVersion | null;
  /** Why it takes no force and is no part of one that does; null if it may. */
  readonly refusal: ConfigurationRefusal | null;
  /** The parts that it waits for. */
  readonly missing: readonly string[];
}

/** Of a part that no configuration waited for. */
export const nothingNew: Judgement = { applies: null, refusal: null, missing: [] };

/**
 * Judges the records of agent.config, in the order of the log: services, commands, replay and audit take the same
 * ones. A version is the hash of its content, so any record whose content has its hash says what the version is. In
 * force is only what was signed; a record from before there were keys of the role config may be unsigned, as former
 * versions wrote it, unless a signed one stands before it: then configurations were being signed by that time.
 * A part needs no signature: the configuration that names it is signed, with the hash that the part must have. A
 * configuration some of whose parts are not there waits for them, until another one is in force.
 */
export class ConfigurationRecords {
  readonly contents = new ConfigurationContents();
  private areSigned = false;
  private waiting: { readonly record: ConfigVersion; readonly missing: Set<string> } | null = null;

  constructor(private readonly signatures: Verifier) {}

  async take(recorded: Recorded): Promise<Judgement> {
    const { record } = recorded;
    if (isPart(record)) return this.takePart(record);
    const isInParts = record.parts.length > 0;
    if (!isInParts && !this.contents.take(record)) return { ...nothingNew, refusal: 'not_its_hash' };
    const refusal = await this.refusalOf(recorded);
    if (isInParts) this.contents.take(record, refusal === null);
    if (refusal !== null) return { ...nothingNew, refusal };
    const missing = this.contents.missing(record);
    this.waiting = missing.length === 0 ? null : { record, missing: new Set(missing) };
    return { ...nothingNew, applies: missing.length === 0 ? record : null, missing };
  }

  private takePart(part: ConfigVersion): Judgement {
    if (!this.contents.take(part)) return { ...nothingNew, refusal: 'not_its_hash' };
    const { waiting } = this;
    if (waiting === null || !waiting.missing.delete(part.version) || waiting.missing.size > 0) return nothingNew;
    this.waiting = null;
    return { ...nothingNew, applies: waiting.record };
  }

  /** Why its writer may not put it in force; null if it may. */
  private async refusalOf(recorded: Recorded): Promise<ConfigurationRefusal | null> {
    const { record } = recorded;
    const { recordSignature } = record;
    if (recordSignature === null) {
      const isFormer = !this.areSigned && trustedTimeOf(recorded) < this.signatures.since('config');
      return isFormer ? null : 'unsigned';
    }
    this.areSigned = true;
    if (await isSignedBy('config', topics.config, record, this.signatures)) return null;
    if (this.signatures.unknownKey('config', recordSignature) === null) return 'not_as_signed';
    // A process whose keys are from before verifies none, as its version did not: all follow the same one while keys
    // are handed out.
    return this.signatures.since('config') === Infinity ? null : 'unknown_key';
  }
}
