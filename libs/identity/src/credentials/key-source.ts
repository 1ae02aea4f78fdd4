import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createLocalJWKSet, createRemoteJWKSet, errors } from 'jose';
import type { JSONWebKeySet } from 'jose';
import { Fault } from '@sluice/core';
import type { JwtSettings } from '@sluice/core';
import { discovered } from './discovery.js';
import type { KeySource } from './issuer-keys.js';

/** How long keys from a file are taken for the file’s, in milliseconds. */
const fileKeptMs = 60_000;

export function keySource({ jwksUrl, keyFile, issuer }: JwtSettings): KeySource {
  const from = jwksUrl ?? keyFile ?? issuer;
  const source: KeySource =
    jwksUrl !== null
      ? createRemoteJWKSet(new URL(jwksUrl))
      : keyFile !== null
        ? fromFile(keyFile)
        : discovered(issuer, (address) => createRemoteJWKSet(new URL(address)));
  return async (header, token) => {
    try {
      return await source(header, token);
    } catch (error) {
      if (isAboutToken(error)) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new Fault(
        'identity_unreachable',
        `The keys that credentials are verified with cannot be had from ${from}: ${why}`,
        true,
        { cause: error },
      );
    }
  };
}

/** Keys are there, and none of them is for this token. */
function isAboutToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}

/**
 * A JWKS, or one public key or certificate as PEM. The file is read again from time to time, so that it can be
 * replaced.
 */
function fromFile(path: string): KeySource {
  let source: Promise<KeySource> | undefined;
  let readAt = -Infinity;
  return async (header, token) => {
    if (source === undefined || performance.now() - readAt > fileKeptMs) {
      readAt = performance.now();
      const reading = readKeys(path);
      source = reading;
      reading.catch(() => {
        if (source === reading) source = undefined;
      });
    }
    return (await source)(header, token);
  };
}

/**
 * Why the file holds no keys that credentials can be verified with now, in words without its content; null if it
 * does.
 */
export async function keyFileProblem(path: string): Promise<string | null> {
  try {
    await readKeys(path);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'is not there';
    if (code === 'EISDIR') return 'is a folder';
    if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this process';
    return 'holds neither a JWKS nor a public key or certificate as PEM';
  }
}

async function readKeys(path: string): Promise<KeySource> {
  const text = await readFile(path, 'utf8');
  if (text.trimStart().startsWith('{')) return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
  const key = createPublicKey(text);
  return () => Promise.resolve(key);
}
