import { trustedTimeOf } from '@sluice/bus';
import { isVersionOf } from '@sluice/core';
import type { Verifier } from '@sluice/core';
import { sha256, topics } from '@sluice/contracts';
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

/**
 * Judges the records of agent.config, in the order of the log: services, commands, replay and audit take the same
 * ones. A version is the hash of its content, so any record whose content has its hash says what the version is. In
 * force is only what was signed; a record from before there were keys of the role config may be unsigned, as former
 * versions wrote it, unless a signed one stands before it: then configurations were being signed by that time.
 */
export class ConfigurationRecords {
  private readonly _texts = new Map<string, string>();
  private areSigned = false;

  constructor(private readonly signatures: Verifier) {}

  /** Why the record takes no force; null if it may. */
  async take(recorded: Recorded): Promise<ConfigurationRefusal | null> {
    const { record } = recorded;
    const { version, configuration, recordSignature } = record;
    if (!isVersionOf(version, configuration, sha256)) return 'not_its_hash';
    this._texts.set(version, configuration);
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

  /** The content of the version, wherever it stood. */
  get(version: string): string | undefined {
    return this._texts.get(version);
  }

  has(version: string): boolean {
    return this._texts.has(version);
  }

  /** Every version there is, with its content. */
  get texts(): ReadonlyMap<string, string> {
    return this._texts;
  }
}
