import { suggestion, textModes, toolEffects } from '@sluice/core';
import type { ConnectionSettings, CredentialIn, McpServer, OpenApiSettings } from '@sluice/core';
import { connectionNamed } from './connections.js';
import { configurationKeys } from './keys.js';
import { checkServerName, readBindings, readCache, readRedaction, refuseTools } from './mcp.js';
import type { McpBinding, OpenApiSection } from './mcp.js';
import { describe } from './problems.js';
import type { Section } from './section.js';

const documentSeconds = { byDefault: 30, most: 600 } as const;
const responseMegabytes = { byDefault: 10, most: 256 } as const;
const callsPerMinute = { byDefault: 1, most: 1_000_000 } as const;
const credentialForms = ['bearer', 'basic', 'header', 'query'] as const;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** `openapi`: HTTP APIs with OpenAPI documents, and which of their operations are tools. */
export function readOpenApi(
  section: Section,
  connections: readonly ConnectionSettings[],
  privateHosts: readonly string[],
): OpenApiSection {
  section.closed(configurationKeys.openapi);
  const servers = section.section('servers');
  const tools = section.section('tools');
  const bindings = readBindings(tools, servers, readBinding);
  return {
    servers: servers.keys().map((id) => readServer(id, servers.section(id), connections, privateHosts)),
    bindings,
    bindingIds: tools.keys(),
  };
}

function readServer(
  id: string,
  section: Section,
  connections: readonly ConnectionSettings[],
  privateHosts: readonly string[],
): McpServer {
  section.closed(configurationKeys['openapi.servers.<server>']);
  checkServerName(id, section);
  const write = 'the OpenAPI document, as a file or an address';
  if (!section.has('document')) section.problem(section.at('document'), 'nothing', write);
  const document = section.text('document', write) ?? '';
  const url = section.address('base_url');
  if (url !== null && /[?#]/.test(url))
    section.problem(section.at('base_url'), 'an address with a query', 'the address that paths are put behind');
  const connection = connectionNamed(section, connections);
  if (connection !== null && !section.has('base_url'))
    section.problem(
      section.at('base_url'),
      'nothing, so that the document would say where the credential goes',
      'the address of the API beside its connection',
    );
  const credential = section.has('credential') ? readCredential(section.section('credential')) : null;
  if (section.has('credential') && !section.has('connection'))
    section.problem(section.at('credential'), 'a place for no credential', '`connection` beside it, or leave it out');
  const hosts = hostsIn([document, url ?? ''], privateHosts);
  const idempotencyHeader = readHeader(section, 'idempotency_header');
  const openapi: OpenApiSettings = {
    document,
    ...(hosts.length === 0 ? {} : { privateHosts: hosts }),
    ...(credential === null ? {} : { credential }),
    ...(idempotencyHeader === null ? {} : { idempotencyHeader }),
  };
  const descriptions = section.choice('descriptions', textModes);
  return {
    ...{ id, command: null, args: [], env: [], url },
    startMs: section.wholeNumber('timeout_seconds', documentSeconds) * 1_000,
    ...(section.has('response_megabytes')
      ? { messageBytes: section.wholeNumber('response_megabytes', responseMegabytes) * 1_048_576 }
      : {}),
    ...(descriptions === null ? {} : { descriptions }),
    ...(section.has('calls_per_minute')
      ? { callsPerMinute: section.wholeNumber('calls_per_minute', callsPerMinute) }
      : {}),
    ...(connection === null ? {} : { connection }),
    openapi,
  };
}

/**
 * Of `web.private_hosts` those that the server may need. Where no base address is written, all: the document says
 * where the API is.
 */
function hostsIn(addresses: readonly string[], privateHosts: readonly string[]): readonly string[] {
  if (addresses.includes('')) return privateHosts;
  const there = addresses.flatMap((address) => {
    const [, scheme = '', host = '', port = ''] = /^(https?):\/\/(\[[^\]]*\]|[^/:?#]*)(?::(\d+))?/i.exec(address) ?? [];
    if (host === '') return [];
    return [host, `${host}:${port || (scheme.toLowerCase() === 'https' ? '443' : '80')}`].map((one) =>
      one.toLowerCase(),
    );
  });
  return privateHosts.filter((host) => there.includes(host.toLowerCase()));
}

function readCredential(section: Section): CredentialIn | null {
  section.closed(configurationKeys['openapi.servers.<server>.credential']);
  const place = section.choice('in', credentialForms);
  const named = section.text('name', 'the name of the header or the parameter');
  if (place === null) {
    if (!section.has('in')) section.problem(section.at('in'), 'nothing', credentialForms.join(', '));
    return null;
  }
  if (place === 'bearer' || place === 'basic') {
    if (section.has('name'))
      section.problem(section.at('name'), `a name for ${place}`, 'nothing: it is the header `authorization`');
    return { in: place };
  }
  const write = place === 'header' ? 'the name of the header' : 'the name of the parameter';
  if (!section.has('name')) section.problem(section.at('name'), 'nothing', write);
  const name = place === 'header' && named !== null ? readHeader(section, 'name') : named;
  return name === null ? null : { in: place, name };
}

function readHeader(section: Section, key: string): string | null {
  const name = section.text(key, 'the name of a header');
  if (name === null || headerName.test(name)) return name;
  section.problem(section.at(key), describe(name), 'the name of a header, such as `Idempotency-Key`');
  return null;
}

function readBinding(id: string, section: Section, servers: readonly string[]): McpBinding | null {
  section.closed(configurationKeys['openapi.tools.<id>']);
  const named = 'the name of a server from `openapi.servers`';
  if (!section.has('server')) section.problem(section.at('server'), 'nothing', named);
  if (section.has('tools')) refuseTools(section);
  const write = 'the name of an operation, as `sluice openapi list` shows it';
  if (!section.has('tools') && !section.has('tool')) section.problem(section.at('tool'), 'nothing', write);
  const server = section.text('server', named);
  if (server !== null && !servers.includes(server))
    section.unknown(section.at('server'), 'server', server, suggestion(server, servers));
  const tool = section.text('tool', write);
  const effect = section.choice('effect', toolEffects);
  const idempotent = section.flag('idempotent') ?? false;
  const redaction = readRedaction(section);
  const cacheMs = section.has('cache_seconds') ? readCache(section, effect, idempotent) : null;
  if (server === null || tool === null) return null;
  const of = { id, path: section.path, server, tool };
  return { ...of, kind: null, effect, idempotent, redaction, content: null, reconcile: null, cacheMs };
}
