import { Controller, Inject, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { dependsOn, requestWarnings, withoutFacts } from '@sluice/core';
import type { Decision, Evaluator, Unknown } from '@sluice/core';
import { topics } from '@sluice/contracts';
import type { Toolset } from '@sluice/contracts';
import { beginning, channelHeader, decideIteration, loadedFor, originOf, pastOfRun, withConditions } from '@sluice/run';
import { LoadWatch, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { Caller } from './caller.js';
import { sendTagged } from './etag.js';
import { listed, shownGroups } from './listed-tool.js';
import type { ShownGroups } from './listed-tool.js';
import { Permission } from './permission.js';
import type { PermittedRoute } from './permission.js';
import { Refusal } from './refusal.js';
import { requestOf, requireSize } from './requests.js';
import type { NamedRequest } from './requests.js';
import { questionBody } from './uploads/question-parts.js';
import { toolParameters } from './tool-parameters.js';
import { TriedCalls } from './tried-calls.js';
import { withWarnings } from './with-warnings.js';
import { Route } from './openapi/route.js';
import { ByCaller } from './rights.js';

/** Everything of a run’s beginning is known in a listing but what it will be asked. */
const unknown = ['question'] as const satisfies Unknown;

/** What a caller would be offered, by the evaluator that decides it in a run. */
@Controller()
export class ToolsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(LoadWatch) private readonly loads: LoadWatch,
    @Inject(Permission) private readonly permission: Permission,
    @Inject(TriedCalls) private readonly calls: TriedCalls,
  ) {}

  /**
   * As in a request: `group` absent for the default, `state` for `undefined`, `connections` for none; lists with
   * commas between. What is hidden is not named.
   */
  @Route('listTools')
  async list(
    @ByCaller() caller: Caller,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() response: Response,
  ): Promise<void> {
    for (const name of Object.keys(toolParameters))
      if (Array.isArray(query[name])) {
        const list = name === 'state' || name === 'agent' ? '' : ', with commas between its names';
        throw new Refusal(400, 'invalid_request', `Write ${name} once${list}.`);
      }
    const { group, state, agent, connections } = query;
    const asked = { question: 'Which tools?', group: names(group), state, agent, connections: names(connections) };
    const { request } = requestOf(Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)));
    const { decided, offered, groups, evaluator } = await this.decide(request, caller, 'GET /v1/tools', unknown);
    const { configVersion, state: inState, fallbackGroups } = decided;
    const shown = shownGroups(evaluator, caller.principal);
    const listing = {
      config_version: configVersion,
      state: inState,
      group: groups,
      fallback_groups: fallbackGroups,
      tools: offered.map((tool) => {
        const open = dependsOn(evaluator, tool.id, unknown);
        return { ...listed(tool, shown), ...(open.length === 0 ? {} : { depends_on: open }) };
      }),
    };
    sendTagged(response, 200, withWarnings(listing, requestWarnings(evaluator, caller.principal.groups, request)));
  }

  /**
   * The first decision about this request, as the filter would make it now, and what its call would come to.
   * Nothing is published, and no run begins.
   */
  @Route('tryToolset')
  async toolset(@ByCaller() caller: Caller, @Req() http: Request): Promise<object> {
    const { request } = requestOf(questionBody(http).body);
    requireSize(topics.requests, request);
    const { decided, offered, groups, evaluator } = await this.decide(request, caller, 'POST /v1/toolsets', []);
    const shown = shownGroups(evaluator, caller.principal);
    const { configVersion, state, toolChoice, fallbackGroups } = decided;
    const call = await this.calls.of(decided, offered, evaluator, caller);
    const listing = {
      config_version: configVersion,
      state,
      group: groups,
      fallback_groups: fallbackGroups,
      tool_choice: toolChoice,
      tools: offered.map((tool) => listed(tool, shown)),
      hidden_counts: hiddenCounts(decided.hidden, shown),
      ...(call === null ? {} : { call }),
    };
    return withWarnings(listing, requestWarnings(evaluator, caller.principal.groups, request));
  }

  private async decide(asked: NamedRequest, caller: Caller, route: PermittedRoute, open: Unknown): Promise<Decided> {
    const { clock, configurations } = this.runtime;
    const { principal, claims } = caller;
    const loaded = loadedFor(configurations.current(), asked);
    const evaluator = withoutFacts(loaded.evaluator, open);
    await this.permission.require(asked, principal, route);
    const { run, request, groups } = beginning(asked, principal, evaluator, clock.now());
    const origin = originOf({ [channelHeader]: 'http' }, claims, evaluator);
    const [measured, facts] = await Promise.all([
      this.loads.measured(loaded),
      pastOfRun({ request, run }, request, evaluator, clock.now(), this.runtime.past),
    ]);
    const judged = withConditions(run, evaluator, { ...measured, facts }, origin);
    const iteration = decideIteration(request, request, judged, evaluator, clock.now());
    if (iteration.kind === 'end') throw new Refusal(400, 'invalid_request', iteration.response.error?.message ?? '');
    const { hidden, offered } = iteration.decision;
    return { decided: { ...iteration.record, hidden }, offered, groups, evaluator: loaded.evaluator };
  }
}

interface Decided {
  readonly decided: Toolset;
  readonly offered: Decision['offered'];
  readonly groups: readonly string[];
  readonly evaluator: Evaluator;
}

function names(given: unknown): unknown {
  return typeof given === 'string' ? given.split(',').filter((name) => name !== '') : given;
}

/** By their first reason, of the tools in groups that the caller may ask for. */
function hiddenCounts(hidden: Toolset['hidden'], shown: ShownGroups): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { key, reasons } of hidden) {
    const [first] = reasons;
    if (first !== undefined && shown(key).length > 0) counts[first] = (counts[first] ?? 0) + 1;
  }
  return counts;
}
