import { Controller, Get, Inject, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { OfferedTool } from '@sluice/contracts';
import { beginning, decideIteration } from '@sluice/decisions';
import { RUNTIME } from '@sluice/service';
import type { Runtime } from '@sluice/service';
import { Callers } from './caller.js';
import { Refusal } from './refusal.js';
import { requestOf } from './requests.js';

/** What a caller would be offered, by the evaluator that decides it in a run. */
@Controller('v1/tools')
export class ToolsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
  ) {}

  /** As in a request: `group` absent for the default, `state` for `undefined`, `connections` for none; lists with commas between. What is hidden is not named. */
  @Get()
  async list(@Req() http: Request, @Query() query: Readonly<Record<string, unknown>>): Promise<object> {
    const { clock, configurations } = this.runtime;
    const caller = await this.callers.of(http);
    const { evaluator } = configurations.current();
    for (const name of ['group', 'state', 'connections'])
      if (Array.isArray(query[name])) {
        const list = name === 'state' ? '' : ', with commas between its names';
        throw new Refusal(400, 'invalid_request', `Write ${name} once${list}.`);
      }
    const { group, state, connections } = query;
    const asked = { question: 'Which tools?', group: names(group), state, connections: names(connections) };
    const { request } = requestOf(Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)));
    const { run, groups, permission } = beginning(request, caller, evaluator, clock.now());
    if (!permission.ok) throw new Refusal(403, 'authz_denied', permission.message);
    const decided = decideIteration(request, request, run, evaluator, clock.now());
    if (decided.kind === 'end') throw new Refusal(400, 'invalid_request', decided.response.error?.message ?? '');
    const { configVersion, tools, state: inState } = decided.record;
    return { config_version: configVersion, state: inState, group: groups, tools: tools.map(listed) };
  }
}

function names(given: unknown): unknown {
  return typeof given === 'string' ? given.split(',').filter((name) => name !== '') : given;
}

function listed({ id, key, description, effect, inputSchema }: OfferedTool): object {
  return { id, key, description, effect, input_schema: JSON.parse(inputSchema) as unknown };
}
