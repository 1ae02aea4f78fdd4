import { existsSync, readFileSync, renameSync } from 'node:fs';
import {
  completed,
  createSeals,
  createSignatures,
  createVerifier,
  isComplete,
  newKeySet,
  readKeySet,
  unverified,
  writeKeySet,
} from '@sluice/identity';
import type { KeySet } from '@sluice/identity';
import type { Signatures, SignerRole, Verifier } from '@sluice/core';
import type { CredentialTopic, RecordOf } from '@sluice/contracts';
import { Credentials } from './credentials.js';
import { dataFiles, prepareDataFolder } from './data-folder.js';
import type { Environment } from './environment.js';
import { createPrivate, ensurePrivate, writePrivate } from './private-files.js';
import { systemClock } from './runtime.js';

/** Holds the keys, or with _FILE behind it names the file that does. */
const variable = 'SLUICE_KEYS';

type KeysEnvironment = Pick<Environment, 'bus' | 'dataFolder' | 'keyFile' | 'secret'>;

/** Where the keys come from that are given, for messages. */
function sourceOf({ keyFile: file }: Pick<Environment, 'keyFile'>): string {
  return file === null ? variable : `${variable}_FILE`;
}

/** The file that holds the keys: the one that SLUICE_KEYS_FILE names, else that of the data folder. */
export function keyFile(environment: Pick<Environment, 'dataFolder' | 'keyFile'>): string {
  return environment.keyFile ?? dataFiles(environment).keys;
}

/** On Kafka keys must be given: those that one process makes, no other would know. */
function requireKeys({ bus, secret }: KeysEnvironment): void {
  if (bus !== 'kafka' || secret(variable) !== undefined) return;
  throw new Error(
    `${variable} is not set, so what the services sign can be neither made nor verified. Run \`sluice keys new\` once, and give each process what \`sluice keys export\` prints for its role with ${variable}_FILE.`,
  );
}

/** A role that signs refuses to start without its private key. */
export function requireSigner(role: SignerRole, { signatures }: { readonly signatures: Signatures }): void {
  if (signatures.canSign(role)) return;
  throw new Error(
    `The keys in ${variable} have no private key of the ${role}. Give it those of \`sluice keys export ${role}\`.${
      signatures.since(role) === Infinity
        ? ` A set of a former version, which has none, gets them with \`sluice keys rotate\`.`
        : ''
    }`,
  );
}

/** The keys given, or those in the data folder, made on first run. Throws a sentence for what is wrong with them. */
export function openSignatures(environment: KeysEnvironment): Signatures {
  requireKeys(environment);
  const given = environment.secret(variable);
  return createSignatures(given === undefined ? ownKeys(environment) : readKeySet(given, sourceOf(environment)));
}

/**
 * The keys with which records that are read again can be verified, of the log or of an export: those that are given,
 * else those of the data folder; null if there are none.
 */
export function recordedKeys(environment: KeysEnvironment): KeySet | null {
  const { bus, dataFolder, secret } = environment;
  const given = secret(variable);
  if (given !== undefined) return readKeySet(given, sourceOf(environment));
  const file = dataFiles({ dataFolder }).keys;
  if (bus === 'kafka' || !existsSync(file)) return null;
  return readKeySet(readFileSync(file, 'utf8'), file);
}

/**
 * Verifies what a key of this installation ever signed, retired ones included: for a service that looks back and acts
 * on nothing. What this process signed itself it recognises without arithmetic.
 */
export function openVerifier(environment: KeysEnvironment, signatures: Signatures): Verifier {
  const keys = recordedKeys(environment);
  if (keys === null) return signatures;
  const verifier = createVerifier(keys);
  return {
    ...verifier,
    verify: async (role, token) => (await signatures.verify(role, token)) ?? verifier.verify(role, token),
  };
}

/**
 * Verifies what was ever signed on the log, for commands that only look: keys are not made here, since everything
 * that others signed would be taken for forged. Where there are none, what is to be verified rejects with a sentence.
 */
export function verifierForLooking(environment: KeysEnvironment): Verifier {
  requireKeys(environment);
  const keys = recordedKeys(environment);
  if (keys !== null) return createVerifier(keys);
  const { keys: file } = dataFiles(environment);
  const why = `${file} is not there, so what was signed cannot be verified. Put the keys there that the log was written with, or name their file with ${variable}_FILE.`;
  return { ...unverified, verify: () => Promise.reject(new Error(why)) };
}

/**
 * Verifies with the keys that there are. Where there are none it reads what was signed: for commands that only show,
 * on a machine without keys.
 */
export function verifierIfAny(environment: KeysEnvironment): Verifier {
  const keys = recordedKeys(environment);
  return keys === null ? unverified : createVerifier(keys);
}

function ownKeys(environment: KeysEnvironment): KeySet {
  const file = dataFiles(environment).keys;
  prepareDataFolder(environment.dataFolder);
  ensurePrivate(file, writeKeySet(newKeySet(systemClock.now())));
  const set = readKeySet(readFileSync(file, 'utf8'), file);
  if (isComplete(set)) return set;
  const whole = completed(set, systemClock.now());
  replaceKeyFile(file, whole);
  return whole;
}

/** Whole or not at all: a process that starts meanwhile finds the former keys or the new ones. */
export function replaceKeyFile(file: string, set: KeySet): void {
  const beside = `${file}.${process.pid}.new`;
  writePrivate(beside, writeKeySet(set));
  renameSync(beside, file);
}

/**
 * Writes a new file, whole or not at all, that its owner alone can read. Throws with the code EEXIST if it is there.
 */
export function createKeyFile(file: string, set: KeySet): void {
  createPrivate(file, writeKeySet(set));
}

/** Seals credentials on Kafka to those who verify them, where there are keys for that. */
export function openCredentials(environment: KeysEnvironment): Credentials {
  const keys = environment.bus === 'kafka' ? recordedKeys(environment) : null;
  return new Credentials(keys === null ? null : createSeals(keys));
}

/** The credential of the command line’s user, as `Bearer` takes it; kept nowhere. */
export function ownToken({ secret }: Pick<Environment, 'secret'>): string | undefined {
  return secret('SLUICE_TOKEN');
}

/** The headers by which a record of the command line shows whose it is. */
export function ownHeaders<T extends CredentialTopic>(
  written: { readonly topic: T; readonly record: RecordOf<T> },
  environment: KeysEnvironment,
): Promise<Readonly<Record<string, string>>> {
  const token = ownToken(environment);
  return openCredentials(environment).headersFor(written, token === undefined ? token : `Bearer ${token}`, null);
}
