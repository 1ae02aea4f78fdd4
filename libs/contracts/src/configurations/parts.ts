import { hash } from 'node:crypto';
import type { Configuration } from '@sluice/core';
import type { ConfigVersion } from '@sluice/records';

/** What is asked of a record of agent.config to know what it holds. */
type Named = Pick<ConfigVersion, 'version' | 'configuration'>;

const partPrefix = 'p-';

/** Whether the record is one tool that configurations share, and no configuration. */
export function isPart({ version }: Pick<ConfigVersion, 'version'>): boolean {
  return version.startsWith(partPrefix);
}

/** Whether the part’s text is the one that its name says. */
export function isWholePart({ version, configuration }: Named): boolean {
  return partNameOf(configuration) === version;
}

/** A configuration without its tools, and each of them as a part; the version stays that of the whole. */
export function inParts({ tools, ...manifest }: Configuration): {
  readonly manifest: string;
  readonly parts: readonly (Named & { readonly key: string })[];
} {
  const parts = tools.map((tool) => {
    const configuration = JSON.stringify(tool);
    return { key: tool.key, version: partNameOf(configuration), configuration };
  });
  return { manifest: JSON.stringify(manifest), parts };
}

/** Base64url, since a manifest names thousands. */
function partNameOf(text: string): string {
  return partPrefix + hash('sha256', text, 'base64url');
}
