import { pinOf } from '@sluice/core';
import { pinKeyOf } from '@sluice/configuration';
import { convertOffer } from '@sluice/schemas';
import type { Configuration, ConfiguredTool, McpServer, OfferedTool } from '@sluice/core';
import { sha256 } from '@sluice/contracts';
import type { AppliedConfiguration } from '@sluice/run';
import type { Environment } from '@sluice/host';
import { askServers } from '../system/compile-once.js';

/** What a server offers now, beside what was allowed of it. Names are those on the server. */
export interface ServerView {
  readonly server: McpServer;
  /** Why it could not be asked; null where it was. */
  readonly error: string | null;
  /** How long it took to start or reach it and to read its list of tools, in milliseconds. */
  readonly latencyMs: number;
  readonly offered: readonly OfferedTool[];
  /** Offered as they were allowed. */
  readonly inUse: readonly string[];
  /** Offered with another description or schema than they were allowed with. */
  readonly heldBack: readonly string[];
  /** Allowed, and not offered any more. */
  readonly gone: readonly string[];
  /** Offered, and in no entry of the configuration. */
  readonly unused: readonly string[];
  /** Offered, and beyond what models can be given. */
  readonly unusable: readonly string[];
}

/** As what each tool of a server was last allowed: in the newest version that has it with a pin. */
export function allowedTools(history: readonly AppliedConfiguration[]): ReadonlyMap<string, ConfiguredTool> {
  const allowed = new Map<string, ConfiguredTool>();
  for (const record of history)
    for (const tool of record.read().tools)
      if (tool.mcp !== null && tool.mcp.pin !== null) allowed.set(pinKeyOf(tool.mcp), tool);
  return allowed;
}

/** Asks one server, with a connection of this command's own. */
export async function lookAt(
  server: McpServer,
  configuration: Configuration,
  allowed: ReadonlyMap<string, ConfiguredTool>,
  environment: Environment,
): Promise<ServerView> {
  const began = performance.now();
  const [offer] = await askServers([server], environment);
  const latencyMs = Math.round(performance.now() - began);
  const none = { offered: [], inUse: [], heldBack: [], gone: [], unused: [], unusable: [] };
  if (offer === undefined || 'error' in offer)
    return { server, error: offer?.error ?? 'It was not asked.', latencyMs, ...none };
  const offered = offer.tools;
  const configured = configuration.tools.flatMap(({ mcp }) =>
    mcp?.server === server.id && mcp.kind === undefined ? [mcp.tool] : [],
  );
  const pinNow = new Map(offered.map((tool) => [tool.name, pinOf(tool, sha256)]));
  const pinThen = (tool: string): string | null => allowed.get(pinKeyOf({ server: server.id, tool }))?.mcp?.pin ?? null;
  const known = configured.filter((name) => pinThen(name) !== null);
  return {
    server,
    error: null,
    latencyMs,
    offered,
    inUse: known.filter((name) => pinNow.get(name) === pinThen(name)),
    heldBack: known.filter((name) => pinNow.has(name) && pinNow.get(name) !== pinThen(name)),
    gone: known.filter((name) => !pinNow.has(name)),
    unused: offered.flatMap(({ name }) => (configured.includes(name) ? [] : [name])),
    unusable: offered.flatMap((tool) => ('problems' in convertOffer(tool) ? [tool.name] : [])),
  };
}
