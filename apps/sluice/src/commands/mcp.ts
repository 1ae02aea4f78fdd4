import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { textModeByDefault, printable } from '@sluice/core';
import { lookOver, convertOffer, textFaults } from '@sluice/schemas';
import type { McpServer, OfferedTool } from '@sluice/core';
import { approve } from '../mcp/approve.js';
import { nameOfCommand, nameOfUrl } from '../mcp/server-name.js';
import { servers } from '../mcp/servers.js';
import { askServers, configurationOf } from '../system/compile-once.js';
import { serveMcpOverStdio } from '../system/mcp-stdio.js';
import { refuseSurplus, sayWhat } from '../refuse-surplus.js';
import { shorten } from '../show/story.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice mcp list SERVER [--config FILE] [--json]
sluice mcp list URL [--json]
sluice mcp list [--env A,B] [--json] -- COMMAND [ARGUMENT…]
  Asks an MCP server which tools it offers, and prints a block for a configuration that brings them in. SERVER is a name under mcp.servers
  of the file that --config or SLUICE_CONFIG names; a server that no configuration has is asked by its URL, or by the command that starts
  it. --env names environment variables that are handed on to the command. --json prints a line for each tool. Says which texts
  hide characters or speak to the model. Runs no tool. Exit code 1
  if the server cannot be asked.
sluice mcp servers [--json]
  Asks every server of the configuration in force: how fast it answers, and which of its tools are in use, held back because they changed
  since they were allowed, no longer offered, or in no entry. Exit code 1 if one is away or has a tool held back.
sluice mcp approve SERVER [--yes] [--config FILE] [--json]
  Shows how tools that are held back differ from what was allowed, and allows them as they are now, as a new version of the configuration.
  Compiles the file that the version in force came from, or FILE. --yes allows them without a question, as it must be with
  --json, which prints {server, version, replaced, allowed}.
sluice mcp serve
  Serves one MCP client over standard input and output: a client starts it by this command (docs/mcp.md). SLUICE_TOKEN is the caller's
  credential, where an identity is configured. Services that run are used, on Kafka and on the data folder alike; where none run on the data
  folder, they run in this process, under SLUICE_CONFIG, else what is in force there, else the sample's configuration. Several clients on
  one data folder share them: when the process that runs them ends, another one takes them over.
sluice mcp operator [--url URL]
  Serves an operator's MCP client, such as a coding agent, over standard input and output: runs, why they ended so, why tools are hidden,
  what-if, checks of a configuration, and the documentation. It reads alone. It asks the gateway at URL, by default on this machine, with
  SLUICE_TOKEN, or without an identity with the local secret (docs/mcp-operator.md).`;

/** How long a server that no configuration has may take to start and to answer, in milliseconds. */
const startMs = 60_000;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      env: { type: 'string' },
      json: { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
      url: { type: 'string' },
    },
  });
  const [action, ...words] = positionals;
  if (action === 'servers') {
    refuseSurplus({ values, words }, { taken: ['json'], words: 0 }, usage);
    return servers(values.json, surroundings);
  }
  if (action === 'approve') {
    refuseSurplus({ values, words }, { taken: ['yes', 'config', 'json'], words: 1 }, usage);
    if (words[0] === undefined) throw new Error(`Name the server.\n${usage}`);
    if (values.json && !values.yes) throw new Error(`Give --yes with --json: nothing can be asked then.\n${usage}`);
    const config = values.config ?? surroundings.environment.configFile;
    return approve(words[0], { config, yes: values.yes, json: values.json }, surroundings);
  }
  if (action === 'serve') {
    refuseSurplus({ values, words }, { taken: [], words: 0 }, usage);
    return serveMcpOverStdio(surroundings);
  }
  if (action === 'operator') {
    refuseSurplus({ values, words }, { taken: ['url'], words: 0 }, usage);
    const { serveOperator } = await import('../operator/serve.js');
    return serveOperator(values.url, surroundings);
  }
  if (values.url !== undefined) throw new Error(`The command takes no --url here.\n${usage}`);
  if (action !== 'list') throw new Error(`${sayWhat('MCP servers', action)}\n${usage}`);
  const [first] = words;
  if (first === undefined) throw new Error(`Name the server.\n${usage}`);
  const isCommand = args.includes('--');
  if (!isCommand) refuseSurplus({ values: {}, words }, { taken: [], words: 1 }, usage);
  if (values.env !== undefined && !isCommand) throw new Error(`--env is for a command alone.\n${usage}`);
  const env = values.env?.split(',').filter((name) => name !== '') ?? [];
  const server = isCommand
    ? { ...nameless, id: nameOfCommand(words), command: first, args: words.slice(1), env }
    : /^https?:\/\//i.test(first)
      ? { ...nameless, id: nameOfUrl(first), url: first }
      : await configured(first, values.config ?? surroundings.environment.configFile, surroundings);
  return list(server, values.json, surroundings);
}

const nameless = { command: null, args: [], env: [], url: null, startMs } satisfies Omit<McpServer, 'id'>;

async function list(server: McpServer, json: boolean, surroundings: CommandContext): Promise<number> {
  const { write, print, paint } = surroundings;
  const [offer] = await askServers([server], surroundings.environment);
  if (offer === undefined || 'error' in offer)
    throw new Error(offer?.error ?? `The MCP server ${server.id} was not asked.`);
  const mode = server.descriptions ?? textModeByDefault;
  const looked = offer.tools.map((offered) => {
    const { tool, sentences, heldBack } = lookOver(offered, mode);
    const problems = [...(heldBack === null ? [] : [`Held back: ${heldBack}`]), ...problemsOf(tool)];
    return { tool, problems, suspect: sentences.filter((sentence) => sentence !== heldBack) };
  });
  const ofServer = (offer.texts ?? []).flatMap(({ of, text }) => textFaults(text, of));
  if (json) {
    for (const { tool, problems, suspect } of looked) {
      const { name, description, inputSchema: input_schema, outputSchema: output_schema } = tool;
      print(`${JSON.stringify({ name, description, input_schema, output_schema, problems, suspect })}\n`);
    }
    return 0;
  }
  const count = looked.length === 1 ? 'one tool' : `${looked.length} tools`;
  write(`${paint.good('✓')} ${server.id} offers ${count}${looked.length === 0 ? '.' : ':'}\n`);
  for (const sentence of ofServer.slice(0, 3)) write(`   ${paint.bad('suspect:')} ${printable(sentence)}\n`);
  for (const { tool, problems, suspect } of looked) {
    write(`   ${paint.tool(printable(tool.name))}  ${shorten(printable(tool.description), 300)}\n`);
    for (const problem of problems.slice(0, 3)) write(`      ${paint.bad('not usable:')} ${printable(problem)}\n`);
    for (const sentence of suspect.slice(0, 3)) write(`      ${paint.bad('suspect:')} ${printable(sentence)}\n`);
  }
  const names = looked.flatMap(({ tool, problems }) => (problems.length === 0 ? [tool.name] : []));
  if (names.length === 0) return 0;
  write(paint.dim('\nTo use them, paste this into a configuration, and keep the tools that you want:\n\n'));
  print(blockFor(server, names));
  return 0;
}

function problemsOf(tool: OfferedTool): readonly string[] {
  const looked = convertOffer(tool);
  return 'problems' in looked ? looked.problems : [];
}

/** A configuration, or a part of one. What a tool changes and what may leave it is for the reader to say. */
function blockFor(server: McpServer, names: readonly string[]): string {
  const { id, command, args, env, url } = server;
  const started = { command, ...(args.length === 0 ? {} : { args }), ...(env.length === 0 ? {} : { env }) };
  const block = {
    tool: { [id]: { type: 'mcp-tool', group: [id] } },
    mcp: {
      servers: { [id]: url === null ? started : { url } },
      tools: { [id]: { server: id, tools: names, effect: 'external_side_effect', redaction: 'whole' } },
    },
    policy: { allowed_tools: [id] },
  };
  return stringify(block, { lineWidth: 0 })
    .replace(/^( *effect: external_side_effect)$/m, '$1 # or state_change, or read_only, where that is true of each')
    .replace(/^( *redaction: whole)$/m, '$1 # or a list of the fields of a result that may leave the tool');
}

async function configured(name: string, file: string | null, surroundings: CommandContext): Promise<McpServer> {
  if (file === null)
    throw new Error(
      `Which configuration has the server ${name}? Name it with --config or SLUICE_CONFIG, or give the server’s URL, or -- and the command that starts it.`,
    );
  const configuration = await configurationOf(file, surroundings);
  const { mcpServers } = configuration;
  const found = mcpServers.find(({ id }) => id === name);
  if (found !== undefined) return found;
  const there = mcpServers.map(({ id }) => id).join(', ');
  throw new Error(
    `${file} has no MCP server ${name}. ${there === '' ? 'It has none.' : `There are: ${there}.`} One that no configuration has is asked by its URL, or by -- and its command.`,
  );
}
