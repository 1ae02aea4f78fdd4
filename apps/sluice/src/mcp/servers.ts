import { printable } from '@sluice/core';
import { configurationsOn, inForceOf } from '@sluice/run';
import { openBus, requireLog, verifierIfAny } from '@sluice/host';
import type { CommandContext } from '../commands/command-context.js';
import { allowedTools, lookAt } from './server-view.js';
import type { ServerView } from './server-view.js';

/** Asks every server of the configuration in force. Exit code 1 if one is away or has a tool that is held back. */
export async function servers(json: boolean, surroundings: CommandContext): Promise<number> {
  const { environment, log, write, print } = surroundings;
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    const history = await configurationsOn(bus, verifierIfAny(environment));
    const last = inForceOf(history);
    if (last === undefined) throw new Error('No configuration was ever applied. Apply one: sluice config apply FILE');
    const configuration = last.read();
    const allowed = allowedTools(history);
    const views = await Promise.all(
      configuration.mcpServers.map((server) => lookAt(server, configuration, allowed, environment)),
    );
    if (views.length === 0) write('The configuration in force has no MCP servers.\n');
    for (const view of views)
      if (json) print(`${JSON.stringify(asLine(view))}\n`);
      else show(view, surroundings);
    return views.every(({ error, heldBack }) => error === null && heldBack.length === 0) ? 0 : 1;
  } finally {
    await bus.close();
  }
}

function asLine({ server, error, latencyMs, offered, inUse, heldBack, gone, unused, unusable }: ServerView) {
  const state = error === null ? 'ready' : 'away';
  const tools = {
    offered: offered.map(({ name }) => name),
    in_use: inUse,
    held_back: heldBack,
    gone,
    unused,
    unusable,
  };
  return { server: server.id, state, latency_ms: latencyMs, error, ...tools };
}

function show({ server, error, latencyMs, offered, ...tools }: ServerView, { write, paint }: CommandContext): void {
  if (error !== null) {
    write(`${paint.bad('✗')} ${server.id} is away: ${printable(error)}\n`);
    return;
  }
  const count = offered.length === 1 ? 'one tool' : `${offered.length} tools`;
  write(`${paint.good('✓')} ${server.id} answered in ${latencyMs} ms and offers ${count}\n`);
  const line = (said: string, names: readonly string[]): void => {
    if (names.length > 0) write(`   ${said}: ${names.map(printable).join(', ')}\n`);
  };
  line('in use', tools.inUse);
  line(paint.bad('held back, changed since they were allowed'), tools.heldBack);
  line(paint.bad('no longer offered'), tools.gone);
  line('not usable', tools.unusable);
  line('in no entry of the configuration', tools.unused);
  if (tools.heldBack.length > 0)
    write(paint.dim(`   See the changes and allow them: sluice mcp approve ${server.id}\n`));
}
