import { Controller, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { listGroups, listStates, nearMiss, stateDiagram } from '@sluice/core';
import type { Evaluator, KnownFacts, Principal } from '@sluice/core';
import { HabitStore, noteOn, recommendGroups } from '@sluice/discovery';
import type { Habits } from '@sluice/discovery';
import { beginningFacts, channelHeader, originOf, pastOfCaller } from '@sluice/run';
import { LoadWatch, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { Caller } from './caller.js';
import { Refusal } from './refusal.js';
import { ByCaller, ByPrincipal } from './rights.js';
import { Route } from './openapi/route.js';

/** Which groups and states there are for a caller: within what it may ask for, and of the configuration in force. */
@Controller()
export class GroupsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(LoadWatch) private readonly loads: LoadWatch,
  ) {}

  @Route('listGroups')
  async groups(@ByCaller() caller: Caller): Promise<object> {
    const { evaluator, permitted, known } = await this.asked(caller);
    return { config_version: evaluator.configuration.version, groups: listGroups(evaluator, permitted, known) };
  }

  /** Which of these groups suit a question. Stands before the route of a group, so that it is not one. */
  @Route('recommendGroups')
  async recommended(@ByPrincipal() caller: Principal, @Query('question') question: unknown): Promise<object> {
    if (typeof question !== 'string' || question.trim() === '')
      throw new Refusal(400, 'invalid_request', 'Write the question once: /v1/groups/recommended?question=…');
    const { evaluator } = this.runtime.configurations.current();
    const habits = await this.habits(caller);
    const groups = recommendGroups(evaluator, caller.groups, question, habits);
    return { config_version: evaluator.configuration.version, groups, note: noteOn(groups) };
  }

  /** A group that the caller may not ask for is as unknown as one that there is not. */
  @Route('readGroup')
  async group(@ByCaller() caller: Caller, @Param('name') path: readonly string[]): Promise<object> {
    const { evaluator, permitted, known } = await this.asked(caller);
    const name = path.join('/');
    const listed = listGroups(evaluator, permitted, known);
    const found = listed.find((group) => group.name === name);
    if (found === undefined) {
      const near = nearMiss(
        name,
        listed.map((group) => group.name),
      );
      const hint = near === undefined ? '' : ` If “${near}” is meant, write that.`;
      throw new Refusal(404, 'not_found', `There is no group of this name that this caller may ask for.${hint}`);
    }
    return { config_version: evaluator.configuration.version, ...found };
  }

  /** With `accept: text/vnd.mermaid`, the states as a Mermaid diagram. */
  @Route('listStates')
  async states(@ByCaller() caller: Caller, @Req() http: Request, @Res() response: Response): Promise<void> {
    const { evaluator, permitted, known } = await this.asked(caller);
    const states = listStates(evaluator, permitted, known);
    if (http.accepts(['application/json', 'text/vnd.mermaid']) === 'text/vnd.mermaid')
      response.type('text/vnd.mermaid').send(stateDiagram(states));
    else response.json({ config_version: evaluator.configuration.version, states });
  }

  /** What the tenant’s models called of late, where the configuration has it kept; without it words alone decide. */
  private async habits({ tenantId }: Principal): Promise<Habits> {
    const { clock, configurations, documents, log } = this.runtime;
    if (configurations.current().configuration.agentDiscovery?.recent !== true) return new Map();
    try {
      return await new HabitStore(documents, clock).find(tenantId);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      log.warn({ error: problem }, 'what was called of late could not be read');
      return new Map();
    }
  }

  private async asked({ principal, claims }: Caller): Promise<Asked> {
    const { configurations, clock } = this.runtime;
    const loaded = configurations.current();
    const { evaluator } = loaded;
    const origin = originOf({ [channelHeader]: 'http' }, claims, evaluator);
    const now = clock.now();
    const [measured, past] = await Promise.all([
      this.loads.measured(loaded),
      pastOfCaller(principal, null, evaluator, now, this.runtime.past),
    ]);
    const facts = beginningFacts(principal, '', origin, { ...measured, facts: past }, evaluator, now);
    return { evaluator, permitted: principal.groups, known: { facts, unknown: ['question'] } };
  }
}

interface Asked {
  readonly evaluator: Evaluator;
  readonly permitted: readonly string[];
  readonly known: KnownFacts;
}
