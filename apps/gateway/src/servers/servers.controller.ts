import { Controller, Inject, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { pinKeyOf } from '@sluice/configuration';
import { printable } from '@sluice/core';
import type { Configuration, ConfiguredTool, JsonObject, McpServer, Principal } from '@sluice/core';
import { convertOffer } from '@sluice/schemas';
import { differences } from '@sluice/replay';
import { readServerReports } from '@sluice/run';
import type { ChangedTool, ServerReport } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { valueWithoutSecrets, withoutSecrets } from '../configurations/hide.js';
import { Versions } from '../configurations/versions.js';
import { describedBody } from '../described-body.js';
import { Route } from '../openapi/route.js';
import { Refusal } from '../refusal.js';
import { ByPrincipal } from '../rights.js';

/** Versions of the configuration in which a tool that is withheld is looked for as it was allowed. */
const mostVersions = 100;
/** Changes of one tool that are listed. */
const mostChanges = 50;
/** Tools of one server that are listed. */
const mostTools = 1_000;

/** The MCP servers of the configuration in force, by what the executors report of them. For operators. */
@Controller()
export class ServersController {
  constructor(
    @Inject(RUNTIME)
    private readonly runtime: Pick<Runtime, 'acceptChanges' | 'clock' | 'configurations' | 'documents' | 'log'>,
    @Inject(Versions) private readonly versions: Versions,
  ) {}

  @Route('listServers')
  async servers(): Promise<object> {
    const { clock, configurations, documents } = this.runtime;
    const { configuration } = configurations.current();
    const reports = await readServerReports(documents, clock.now());
    const seen = [...reports].flatMap(([instance, servers]) => servers.map((report) => ({ instance, report })));
    const changed = new Map(seen.flatMap(({ report }) => report.changed.map((tool) => [keyOf(report, tool), tool])));
    const allowed = changed.size === 0 ? new Map<string, ConfiguredTool>() : await this.allowedBefore(changed);
    return {
      config_version: configuration.version,
      servers: configuration.mcpServers.map((server) => {
        const ofServer = seen.filter(({ report }) => report.server === server.id);
        return valueWithoutSecrets({
          ...describe(server, configuration),
          state: stateOf(ofServer.map(({ report }) => report)),
          executors: ofServer.map(({ instance, report: { state, error, since } }) => ({
            ...{ instance, state, error, since },
          })),
          held_back: [...changed]
            .filter(([key]) =>
              ofServer.some(({ report }) => report.changed.some((tool) => keyOf(report, tool) === key)),
            )
            .map(([key, tool]) => heldBack(tool, allowed.get(key))),
        });
      }),
    };
  }

  /** Allows tools that are held back as they are now, if their server says what was shown. */
  @Route('acceptServerChanges')
  async accept(
    @Param('name') name: string,
    @Req() request: Request,
    @ByPrincipal() operator: Principal,
  ): Promise<object> {
    const { acceptChanges, configurations, log } = this.runtime;
    const { tools } = describedBody<{ readonly tools: readonly { readonly tool: string; readonly pin: string }[] }>(
      request,
      'AcceptRequest',
    );
    if (!configurations.current().configuration.mcpServers.some(({ id }) => id === name))
      throw new Refusal(404, 'not_found', `The configuration in force has no MCP server ${printable(name)}.`);
    if (acceptChanges === undefined)
      throw new Refusal(
        409,
        'conflict',
        `Here tools are allowed by the command alone, by who has the keys: \`sluice mcp approve ${name}\`.`,
      );
    const accepted = await acceptChanges(name, new Map(tools.map(({ tool, pin }) => [tool, pin])));
    if (accepted.status === 'refused') throw new Refusal(409, 'conflict', withoutSecrets(accepted.why));
    const { status, version, replaced } = accepted;
    const by = `${operator.actorId} of ${operator.tenantId}`;
    log.info({ server: name, config_version: version, by }, 'changed tools of an MCP server were allowed over HTTP');
    this.versions.forget();
    return { config_version: version, replaced, status };
  }

  @Route('listConnections')
  connections(): object {
    const { configuration } = this.runtime.configurations.current();
    const { connections = [], mcpServers, tools } = configuration;
    return {
      config_version: configuration.version,
      connections: connections.map(({ id, tenants }) => ({
        name: id,
        tenants,
        servers: mcpServers.filter(({ connection }) => connection?.id === id).map((server) => server.id),
        tools: tools.filter(({ connection }) => connection === id).map(({ key }) => key),
      })),
    };
  }

  /** As what each of these tools was last allowed, by its pin key. */
  private async allowedBefore(changed: ReadonlyMap<string, ChangedTool>): Promise<ReadonlyMap<string, ConfiguredTool>> {
    const found = new Map<string, ConfiguredTool>();
    const all = (await this.versions.all()).filter(({ refused }) => refused === null);
    for (const { applied } of all.toReversed().slice(0, mostVersions)) {
      if (found.size === changed.size) break;
      for (const tool of toolsOf(applied)) {
        if (tool.mcp === null || tool.mcp.pin === null) continue;
        const key = pinKeyOf(tool.mcp);
        if (changed.has(key) && !found.has(key)) found.set(key, tool);
      }
    }
    return found;
  }
}

/** Nothing of a version that this gateway does not read. */
function toolsOf(applied: { read(): Configuration }): readonly ConfiguredTool[] {
  try {
    return applied.read().tools;
  } catch {
    return [];
  }
}

function keyOf({ server }: ServerReport, { name }: ChangedTool): string {
  return pinKeyOf({ server, tool: name });
}

function describe({ id, command, url }: McpServer, { tools }: Configuration): object {
  const own = tools.filter(({ mcp }) => mcp?.server === id && mcp.kind === undefined);
  return {
    name: id,
    transport: url === null ? 'stdio' : 'http',
    // Arguments and queries may hold secrets.
    at: url === null ? withoutSecrets(command ?? '') : addressOf(url),
    tools: own.slice(0, mostTools).map(({ key, mcp, spec, unavailable }) => ({
      ...{ key, name: mcp?.tool ?? '', offered: spec !== null, unavailable },
    })),
  };
}

function addressOf(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** `ready` if it is with one executor; `unknown` where no executor reports it. */
function stateOf(reports: readonly ServerReport[]): string {
  if (reports.length === 0) return 'unknown';
  for (const state of ['ready', 'connecting', 'waiting', 'idle']) if (reports.some((one) => one.state === state)) return state; // prettier-ignore
  return 'closed';
}

function heldBack(now: ChangedTool, before: ConfiguredTool | undefined): object {
  const inputSchema = JSON.parse(now.inputSchema) as JsonObject;
  const converted = convertOffer({ name: now.name, description: now.description, inputSchema, outputSchema: null });
  const is = { description: now.description, input: 'problems' in converted ? inputSchema : converted.inputSchema };
  const was =
    before?.spec == null ? undefined : { description: before.spec.description, input: before.spec.inputSchema };
  return {
    tool: now.name,
    key: before?.key ?? null,
    description: now.description,
    pin: now.pin,
    changes: differences(was, is)
      .slice(0, mostChanges)
      .map((change) => ({ path: change.path, was: change.was ?? null, is: change.is ?? null })),
  };
}
