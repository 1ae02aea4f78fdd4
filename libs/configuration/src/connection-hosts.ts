import { isServerTool, quote, sentenceList } from '@sluice/core';
import type { ConnectionSettings, McpServer, Policy, Problem, ToolType } from '@sluice/core';
import { type ToolEntry } from './entries.js';
import { describe } from './problems.js';
import type { Section } from './section.js';

/** A host with or without a port, over https, or with the scheme before it. */
const hostForm = /^(?:(https?):\/\/)?(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9])?)(?::(\d{1,5}))?\/?$/i;
const ownPorts: Readonly<Record<string, string>> = { https: '443', http: '80' };
const example = '`api.example.com`, `api.example.com:8443` or, without https, `http://localhost:8080`';

/** The scheme, host and port that a text names; null if it names none. */
function originOf(text: string): string | null {
  const [, scheme = 'https', host = '', port = ''] = hostForm.exec(text.toLowerCase()) ?? [];
  if (host === '' || Number(port) > 65_535) return null;
  return `${scheme}://${host}${port === '' || port === ownPorts[scheme] ? '' : `:${port}`}`;
}

/** `hosts`: where the credential may go, as schemes, hosts and ports. Null where nothing is written. */
export function readHosts(section: Section): readonly string[] | null {
  const written = section.names('hosts', `a list of hosts such as ${example}`);
  if (written === null) return null;
  if (written.length === 0) section.problem(section.at('hosts'), 'an empty list', 'a host, or leave it out');
  return written.flatMap((text, place) => {
    const origin = originOf(text);
    if (origin === null)
      section.problem(section.itemAt('hosts', place), describe(text), `a host such as ${example}: no path, no pattern`);
    return origin ?? [];
  });
}

/** A connection that tools use names hosts, and one that names hosts names those of its MCP servers as well. */
export function checkHosts(
  tools: readonly { readonly entry: ToolEntry; readonly id: string }[],
  {
    policy,
    connections,
    servers,
    types,
  }: {
    readonly policy: Policy;
    readonly connections: readonly ConnectionSettings[];
    readonly servers: readonly McpServer[];
    readonly types: readonly ToolType[];
  },
  problems: Problem[],
): void {
  for (const { id, hosts } of connections) {
    const path = `connections.${id}.hosts`;
    if (hosts === undefined) {
      const using = tools
        .filter(({ entry }) => entry.connection === id && !isServerTool(entry.type))
        .filter(({ entry, id: tool }) => needs(entry, types) && policy.allowedTools.includes(tool))
        .map(({ entry }) => quote(entry.key));
      if (using.length === 0) continue;
      const found = `nothing, though ${sentenceList(using)} may send the credential anywhere`;
      problems.push({ path, found, write: `the hosts that it may go to, such as ${example}` });
      continue;
    }
    for (const { id: server, url, connection } of servers) {
      if (connection?.id !== id || url === null) continue;
      const origin = originOf(/^https?:\/\/[^/?#]+/i.exec(url)?.[0] ?? '');
      if (origin === null || hosts.includes(origin)) continue;
      const found = `no ${quote(origin)}, where the server ${quote(server)} is`;
      problems.push({ path, found, write: 'it as well, or give the server another connection' });
    }
  }
}

function needs({ type }: ToolEntry, types: readonly ToolType[]): boolean {
  return types.find((one) => one.type === type)?.requiresConnection ?? false;
}
