import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { pinOf, printable, textModeByDefault } from '@sluice/core';
import type { McpServer, OfferedTool } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { convertOffer, lookOver } from '@sluice/schemas';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import { shorten } from '../show/story.js';
import { askServers, configurationOf } from '../system/compile-once.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice openapi list DOCUMENT [--base-url URL] [--json]
sluice openapi list SERVER [--config FILE] [--json]
  Lists the operations of an OpenAPI document as the tools that they would be, and prints a block for a configuration that brings them in.
  DOCUMENT is a file or an address, and needs no configuration; SERVER a name under openapi.servers of the file that --config or
  SLUICE_CONFIG names. Says of each operation its request and its effect, and why it cannot be a tool where it cannot. --json prints a line
  for each, with its input schema and the hash that it is held to. Calls nothing of the API. Exit code 1 if the document cannot be read.`;

/** How long a document may take to come, in milliseconds. */
const startMs = 60_000;
const shownOperations = 200;

interface Listed {
  readonly tool: OfferedTool;
  readonly effect: string;
  readonly problems: readonly string[];
  readonly suspect: readonly string[];
}

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      'base-url': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const [action, ...words] = positionals;
  if (action !== 'list') throw new Error(`${sayWhat('OpenAPI documents', action)}\n${usage}`);
  refuseSurplus({ values: {}, words }, { taken: [], words: 1 }, usage);
  const [named] = words;
  if (named === undefined) throw new Error(`Name the document.\n${usage}`);
  const base = values['base-url'] ?? null;
  if (base !== null && !/^https?:\/\//i.test(base)) throw new Error(`--base-url is no address.\n${usage}`);
  const isDocument = /^https?:\/\//i.test(named) || existsSync(named);
  const server = isDocument
    ? documentAlone(named, base)
    : await configured(named, values.config ?? surroundings.environment.configFile, surroundings);
  return list(server, isDocument, values.json, surroundings);
}

/** Who names a document at an address means to reach its host, wherever that is. */
function documentAlone(document: string, url: string | null): McpServer {
  const privateHosts = URL.canParse(document) ? [new URL(document).host] : [];
  return {
    ...{ id: nameOf(document), command: null, args: [], env: [], url, startMs },
    openapi: { document, privateHosts },
  };
}

async function list(
  server: McpServer,
  isDocument: boolean,
  json: boolean,
  surroundings: CommandContext,
): Promise<number> {
  const { print, write, paint } = surroundings;
  const [offer] = await askServers([server], surroundings.environment);
  if (offer === undefined || 'error' in offer) throw new Error(offer?.error ?? 'The document was not read.');
  const all = offer.tools.map((tool) => looked(tool, server));
  if (json) {
    for (const one of all) print(`${JSON.stringify(lineOf(one))}\n`);
    return 0;
  }
  const usable = all.filter(({ problems }) => problems.length === 0);
  write(
    `${paint.good('✓')} ${server.id} has ${count(all.length, 'operation')}, of which ${String(usable.length)} can be tools:\n`,
  );
  for (const { tool, effect, problems, suspect } of all.slice(0, shownOperations)) {
    const { name, operation, title, description } = tool;
    const request = `${operation?.method ?? ''} ${operation?.path ?? ''}`;
    write(`   ${paint.tool(printable(name))}  ${printable(request)}  ${paint.dim(effect)}\n`);
    write(`      ${shorten(printable(title ?? description), 160)}\n`);
    for (const problem of problems.slice(0, 3)) write(`      ${paint.bad('not usable:')} ${printable(problem)}\n`);
    for (const sentence of suspect.slice(0, 3)) write(`      ${paint.bad('suspect:')} ${printable(sentence)}\n`);
  }
  if (all.length > shownOperations)
    write(paint.dim(`   … and ${count(all.length - shownOperations, 'more operation')}: --json prints them all\n`));
  if (usable.length === 0 || !isDocument) return 0;
  write(paint.dim('\nTo use them, paste this into a configuration, and keep the operations that you want:\n\n'));
  print(blockFor(server, usable));
  return 0;
}

function looked(offered: OfferedTool, server: McpServer): Listed {
  const { tool, sentences, heldBack } = lookOver(offered, server.descriptions ?? textModeByDefault);
  const converted = convertOffer(tool, server.connection !== undefined);
  const method = offered.operation?.method;
  return {
    tool: offered,
    effect: method === 'GET' || method === 'HEAD' ? 'read_only' : 'external_side_effect',
    problems: [
      ...(heldBack === null ? [] : [`Held back: ${heldBack}`]),
      ...('problems' in converted ? converted.problems : []),
    ],
    suspect: sentences.filter((sentence) => sentence !== heldBack),
  };
}

function lineOf({ tool, effect, problems, suspect }: Listed) {
  const { name, description, inputSchema: input_schema, operation } = tool;
  const request = { method: operation?.method ?? null, path: operation?.path ?? null };
  return { name, ...request, effect, hash: pinOf(tool, sha256), description, input_schema, problems, suspect };
}

/** A configuration, or a part of one. Few operations are named, of many the first as an example. */
function blockFor({ id, url, openapi }: McpServer, usable: readonly Listed[]): string {
  const names = usable.map(({ tool }) => tool.name);
  const base = url ?? usable[0]?.tool.operation?.url;
  const server = { document: openapi?.document ?? '', ...(base === undefined ? {} : { base_url: base }) };
  const block = {
    tool: { [id]: { type: 'openapi-tool', group: [id] } },
    openapi: {
      servers: { [id]: server },
      tools: { [id]: { server: id, tools: names.length > 50 ? ['*'] : names, redaction: 'whole' } },
    },
    policy: { allowed_tools: [id] },
  };
  return stringify(block, { lineWidth: 0 }).replace(
    /^( *redaction: whole)$/m,
    '$1 # or a list of the fields of a result that may leave the tool',
  );
}

async function configured(name: string, file: string | null, surroundings: CommandContext): Promise<McpServer> {
  if (file === null)
    throw new Error(
      `There is no file ${name}. A server of a configuration is found with --config or SLUICE_CONFIG; a document is named as a file or an address.`,
    );
  const servers = (await configurationOf(file, surroundings)).mcpServers.filter(({ openapi }) => openapi !== undefined);
  const found = servers.find(({ id }) => id === name);
  if (found !== undefined) return found;
  const there = servers.map(({ id }) => id).join(', ');
  throw new Error(
    `There is no file ${name}, and ${file} has no server ${name} under openapi.servers. ${there === '' ? 'It has none.' : `There are: ${there}.`}`,
  );
}

function nameOf(document: string): string {
  const file = basename(document.replace(/[?#].*$/, '')).replace(/\.\w+$/, '');
  const name = file.replace(/[^A-Za-z0-9-]+/g, '-').replace(/^-+|-+$/g, '');
  return name === '' || name === 'unbound' ? 'api' : name.slice(0, 30);
}

function count(number: number, what: string): string {
  return number === 1 ? `1 ${what}` : `${String(number)} ${what}s`;
}
