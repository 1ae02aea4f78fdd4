import { createInterface } from 'node:readline/promises';
import { namesBefore, pinKeyOf } from '@sluice/configuration';
import { pinOf, printable, printableIn } from '@sluice/core';
import type { Configuration, ConfiguredTool, OfferedTool } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import { openBus, openSignatures, requireLog } from '@sluice/host';
import { applyConfiguration, configurationsOn, inForceOf } from '@sluice/run';
import { differences } from '@sluice/replay';
import type { CommandContext } from '../commands/command-context.js';
import { printJson, quietFor } from '../json-answer.js';
import { configurationOf } from '../system/compile-once.js';
import { allowedTools, lookAt } from './server-view.js';

/**
 * Shows how the tools of one server that are held back differ from what was allowed, and allows them as they are now:
 * the file of the configuration is compiled again with the tools of all other servers held to what they were, and
 * published as a new version.
 */
export async function approve(
  id: string,
  given: { readonly config: string | null; readonly yes: boolean; readonly json: boolean },
  context: CommandContext,
): Promise<number> {
  const surroundings = quietFor(given.json, context);
  const answer = (version: string, replaced: string | null, tools: readonly string[]): void => {
    if (given.json) printJson(context, { server: id, version, replaced, allowed: tools });
  };
  const { environment, log, write, paint } = surroundings;
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    const signatures = openSignatures(environment);
    const history = await configurationsOn(bus, signatures);
    const last = inForceOf(history);
    if (last === undefined) throw new Error('No configuration was ever applied. Apply one: sluice config apply FILE');
    const inForce = last.read();
    const server = inForce.mcpServers.find((one) => one.id === id);
    const there = inForce.mcpServers.map((one) => one.id).join(', ');
    if (server === undefined)
      throw new Error(
        `The configuration in force has no MCP server ${id}. ${there === '' ? 'It has none.' : `There are: ${there}.`}`,
      );
    const allowed = allowedTools(history);
    const view = await lookAt(server, inForce, allowed, environment);
    if (view.error !== null) throw new Error(view.error);
    if (view.heldBack.length === 0) {
      answer(last.version, null, []);
      write(`${paint.good('✓')} No tool of ${id} is held back: it offers what was allowed.\n`);
      return 0;
    }
    const file = given.config ?? last.source;
    const others = new Map(
      [...allowed.values()].flatMap(({ mcp }) =>
        mcp === null || mcp.pin === null || mcp.server === id ? [] : [[pinKeyOf(mcp), mcp.pin] as const],
      ),
    );
    const configuration = await configurationOf(file, surroundings, {
      pins: others,
      names: namesBefore(inForce),
    });
    for (const name of view.heldBack) {
      const before = allowed.get(pinKeyOf({ server: id, tool: name }));
      const offer = view.offered.find((tool) => tool.name === name);
      if (before !== undefined && offer !== undefined) showChange(before, offer, configuration, surroundings);
    }
    if (!isSeen(view.heldBack, id, view.offered, configuration))
      throw new Error(`The server ${id} changed its tools while they were looked at. Run the command again.`);
    if (!given.yes && !(await isConfirmed(view.heldBack.length, surroundings))) {
      write(`Nothing was allowed. To allow them without a question: sluice mcp approve ${id} --yes\n`);
      return 1;
    }
    const about = { source: file, compiledAt: Date.now() };
    await applyConfiguration(bus, configuration, about, { signatures, isWhole: environment.toolsets === 'whole' });
    answer(configuration.version, last.version, view.heldBack);
    write(`${paint.good('✓')} ${configuration.version} is in force, after ${last.version}.\n`);
    return 0;
  } finally {
    await bus.close();
  }
}

/** A pin covers what a server writes; what a model gets may be the same. */
function showChange(
  before: ConfiguredTool,
  offer: OfferedTool,
  now: Configuration,
  { write, paint }: CommandContext,
): void {
  const after = now.tools.find(
    ({ mcp }) => mcp?.server === before.mcp?.server && mcp?.tool === offer.name && mcp.kind === undefined,
  );
  write(`${paint.tool(printable(offer.name))}\n`);
  const changes = printableIn(differences(shown(before), after === undefined ? undefined : shown(after)));
  for (const { path, was, is } of changes) {
    if (was !== undefined) write(`   ${paint.bad(`- ${path}: ${was}`)}\n`);
    if (is !== undefined) write(`   ${paint.good(`+ ${path}: ${is}`)}\n`);
  }
  if (changes.length === 0)
    write(
      '   Only what is left out or written otherwise for models has changed; its description as the server has it now:\n',
    );
  if (changes.length === 0) write(`   ${printable(offer.description)}\n`);
}

function shown({ spec, mcp, unavailable }: ConfiguredTool) {
  if (spec === null) return { unavailable };
  return { description: spec.description, input: spec.inputSchema, output: mcp?.outputSchema ?? null };
}

/** Whether what was compiled is what was shown: the server is asked twice, and may answer differently. */
function isSeen(
  names: readonly string[],
  server: string,
  offered: readonly OfferedTool[],
  now: Configuration,
): boolean {
  return names.every((name) => {
    const offer = offered.find((tool) => tool.name === name);
    const tool = now.tools.find(({ mcp }) => mcp?.server === server && mcp.tool === name && mcp.kind === undefined);
    const pin = tool?.mcp?.pin ?? null;
    return pin === null || (offer !== undefined && pin === pinOf(offer, sha256));
  });
}

async function isConfirmed(count: number, { terminal, input }: CommandContext): Promise<boolean> {
  if (!terminal) return false;
  const lines = createInterface({ input, output: process.stdout });
  try {
    const what = count === 1 ? 'this tool' : `these ${count} tools`;
    return /^y(es)?$/i.test((await lines.question(`Allow ${what} as shown? [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
