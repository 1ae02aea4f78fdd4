import { Controller, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ConfiguredTool, Principal } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { AgentStepResult, ToolCall, Toolset } from '@sluice/contracts';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { offeredWithSchema, ownCallIn, toolsetOfCall } from '@sluice/run';
import type { Loaded } from '@sluice/run';
import type { Caller } from './caller.js';
import { whenGone } from './client-disconnect.js';
import { parametersOf } from './lists/list-query.js';
import { listed, shownGroups } from './listed-tool.js';
import type { ShownGroups } from './listed-tool.js';
import { requireLink, requireSecret } from './local-access.js';
import { Route } from './openapi/route.js';
import { Refusal } from './refusal.js';
import { ByCaller } from './rights.js';
import { locationOfLink } from './run-location.js';
import { RunReaders } from './run-readers.js';
import { RunsService } from './runs.service.js';
import { specificationParameters } from './tool-parameters.js';

type Parameters = Partial<Record<keyof typeof specificationParameters, string>>;

/** The tools of a configuration that have a schema. */
interface Found extends Loaded {
  readonly tools: readonly ConfiguredTool[];
}

/** What tools take, by the hashes that records name. */
@Controller()
export class SpecificationsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(RunsService) private readonly runs: RunsService,
    @Inject(RunReaders) private readonly readers: RunReaders,
  ) {}

  /** A tool of groups that the caller may not ask for is as unknown as one that there is not. */
  @Route('readSpecification')
  async specification(
    @ByCaller() { principal }: Caller,
    @Param('hash') hash: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() http: Request,
    @Res() response: Response,
  ): Promise<void> {
    const given = parametersOf(query, specificationParameters);
    if (given.request_id === undefined) {
      const loaded = this.loaded(given.config_version);
      const tools = loaded.configuration.tools.filter(({ spec }) => spec?.schemaHash === hash);
      response.json(
        specificationOf({ ...loaded, tools }, hash, shownGroups(loaded.evaluator, principal)) ??
          notFound('of this configuration'),
      );
      return;
    }
    const leaving = new AbortController();
    whenGone(response, () => leaving.abort());
    const run = { requestId: given.request_id, given };
    const found = await this.ofRun(run, hash, http, principal, leaving.signal);
    if (leaving.signal.aborted) return;
    response.json(found ?? notFound('of those that this run was offered'));
  }

  /** As the latest iteration has it that was offered such a tool. Without an identity a run is for who has its link. */
  private async ofRun(
    { requestId, given }: { readonly requestId: string; readonly given: Parameters },
    hash: string,
    http: Request,
    caller: Principal,
    signal: AbortSignal,
  ): Promise<object | null> {
    const at = locationOfLink({ requestId, query: given }, this.runtime.clock.now());
    if (at === null) requireSecret(http, this.runtime);
    else requireLink(http, at, given.token, this.runtime);
    const reader = await this.readers.ofRequest(http, caller, given.tenant, 'GET /v1/specifications/{hash}');
    let found: object | null = null;
    for await (const { topic, record } of this.runs.records(at ?? requestId, reader, signal)) {
      if (topic !== topics.toolsets && topic !== topics.toolCalls && topic !== topics.steps) continue;
      if (record.requestId !== requestId) continue;
      if ((given.config_version ?? record.configVersion) !== record.configVersion) continue;
      const loaded = this.runtime.configurations.versionOrNull(record.configVersion);
      if (loaded === null) continue;
      const toolset = topic === topics.toolsets ? record : ofOwnCall(record, loaded);
      if (toolset === null) continue;
      const tools = offeredWithSchema(toolset, hash, loaded.evaluator);
      const all: ShownGroups = (key) => loaded.evaluator.tool(key)?.groups ?? [];
      const shown = reader.seesAll ? all : shownGroups(loaded.evaluator, caller);
      found = specificationOf({ ...loaded, tools }, hash, shown) ?? found;
    }
    return found;
  }

  private loaded(version: string | undefined): Loaded {
    const { configurations } = this.runtime;
    if (version === undefined) return configurations.current();
    const loaded = configurations.versionOrNull(version);
    if (loaded !== null) return loaded;
    throw new Refusal(404, 'not_found', 'There is no configuration of this config_version that can be read here.');
  }
}

/** What a call would have been offered that its request makes itself; null for any other record. */
function ofOwnCall(record: AgentStepResult | ToolCall, { evaluator }: Loaded): Toolset | null {
  const own = ownCallIn(record);
  return own === null ? null : toolsetOfCall(own, evaluator);
}

/** The answer, of the tools that the caller may ask for; null where there is none. */
function specificationOf({ configuration, tools }: Found, hash: string, shown: ShownGroups): object | null {
  const seen = tools.filter(({ key }) => shown(key).length > 0);
  const schema = seen[0]?.spec?.inputSchema;
  if (schema === undefined) return null;
  return {
    config_version: configuration.version,
    schema_hash: hash,
    input_schema: schema,
    tools: seen.map((tool) => listed(tool, shown)),
  };
}

function notFound(which: string): never {
  throw new Refusal(
    404,
    'not_found',
    `No tool that this caller may ask for, ${which}, has a schema of this hash. Name the config_version of the record, and where arguments are bounded the request_id of a run that was offered it.`,
  );
}
