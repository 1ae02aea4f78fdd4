import type { ToolNetwork } from '@sluice/core';

/** A host, or one with a port: no path, no user, no pattern. */
const hostForm = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::\d{1,5})?$/i;

/** Whether a definition’s `network` is one. */
export function isNetwork(value: unknown): value is ToolNetwork | 'none' {
  if (value === 'none' || value === 'open') return true;
  return Array.isArray(value) && value.length > 0 && value.length <= mostHosts && value.every(isHost);
}

const mostHosts = 50;

function isHost(value: unknown): boolean {
  return typeof value === 'string' && value.length <= 253 && hostForm.test(value);
}

/** Whether a request to this address is one to a host that the file names; without a port the scheme’s own. */
export function isDeclared(url: URL, hosts: readonly string[]): boolean {
  const { host, hostname, port } = url;
  return hosts.some((named) => {
    const name = named.toLowerCase();
    return name === host || (port === '' && (name === hostname || name === `${hostname}:${ownPort(url)}`));
  });
}

function ownPort({ protocol }: URL): string {
  return protocol === 'https:' ? '443' : '80';
}
