import { createHash } from 'node:crypto';
import { canonicalJson, versionOfDigest } from '@sluice/core';
import type { Configuration, JsonValue } from '@sluice/core';

/**
 * Whether the version is the hash of the configuration, as `versionOf` makes it. A long one is hashed tool by tool, so
 * that no text of all of it is held.
 */
export function hasVersion(version: string, { version: own, ...content }: Configuration): boolean {
  if (own !== version) return false;
  const hash = createHash('sha256');
  let before = '{';
  for (const [key, value] of Object.entries(content).sort(([one], [other]) => (one < other ? -1 : 1))) {
    hash.update(`${before}${JSON.stringify(key)}:`);
    if (key === 'tools') updateList(value as readonly unknown[]);
    else hash.update(canonicalJson(value as unknown as JsonValue));
    before = ',';
  }
  hash.update(before === '{' ? '{}' : '}');
  return version === versionOfDigest(hash.digest('hex'));

  function updateList(items: readonly unknown[]): void {
    hash.update('[');
    for (const [at, item] of items.entries()) hash.update((at === 0 ? '' : ',') + canonicalJson(item as JsonValue));
    hash.update(']');
  }
}
