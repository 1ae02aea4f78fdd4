import { canonicalJson } from '../json.js';
import type { Digest, JsonValue } from '../json.js';
import type { Configuration } from './configuration.js';

/**
 * Whether a compiled configuration, as JSON text, is the one that the version names: what its content hashes to, in
 * whatever order it stands there.
 */
export function isVersionOf(version: string, text: string, digest: Digest): boolean {
  try {
    const { version: own, ...content } = JSON.parse(text) as Configuration;
    return own === version && versionOf(content, digest) === version;
  } catch {
    return false;
  }
}

/** The version is the hash of everything else, so equal content has one version wherever it is compiled. */
export function versionOf(content: Omit<Configuration, 'version'>, digest: Digest): string {
  return versionOfDigest(digest(canonicalJson(content as unknown as JsonValue)));
}

/** The version of what has this digest, hexadecimal. */
export function versionOfDigest(digest: string): string {
  return `c-${digest.slice(0, 16)}`;
}
