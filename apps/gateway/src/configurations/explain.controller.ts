import { Controller, Inject, Req } from '@nestjs/common';
import type { Request } from 'express';
import { createAuthorizer, isDecidedHere } from '@sluice/authorization';
import { groupsOf, wildcard } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import { explainCaller } from '@sluice/run';
import type { ExplainedCaller } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { describedBody } from '../described-body.js';
import { Route } from '../openapi/route.js';
import { Candidates } from './candidates.js';
import { valueWithoutSecrets } from './hide.js';

/** The body of `POST /v1/explain`, by its schema. */
interface ExplainBody {
  readonly text?: string | null;
  readonly group?: readonly string[] | null;
  readonly state?: string | null;
  readonly tool_ids?: readonly string[] | null;
  readonly tool_choice?: string | null;
  readonly connections?: readonly string[] | null;
  readonly question?: string | null;
  readonly agent?: string | null;
  readonly tenant?: string | null;
  readonly user?: string | null;
  readonly on_behalf_of?: string | null;
  readonly channel?: string | null;
  readonly claims?: Readonly<Record<string, readonly string[]>> | null;
  readonly roles?: readonly string[] | null;
  readonly permitted_groups?: readonly string[] | null;
  readonly at?: number | null;
  readonly calls?: Readonly<Record<string, number>>;
  readonly succeeded?: readonly string[] | null;
  readonly approved?: readonly string[] | null;
  readonly nested?: boolean;
  readonly depth?: number | null;
  readonly planned?: boolean;
  readonly loads?: Readonly<Record<string, number>>;
}

/** What a caller would be offered and why not the rest, for operators. */
@Controller()
export class ExplainController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Candidates) private readonly candidates: Candidates,
  ) {}

  @Route('explain')
  async explain(@Req() request: Request): Promise<object> {
    const body = describedBody<ExplainBody>(request, 'ExplainRequest');
    const { configurations, clock, past } = this.runtime;
    const text = body.text ?? null;
    const configuration =
      text === null ? configurations.current().configuration : await this.candidates.configurationOf(text);
    const { tools, ...explained } = await explainCaller(
      configuration,
      callerOf(body, configuration, clock.now()),
      past,
    );
    const authorized = await authorizations(body, configuration);
    return valueWithoutSecrets({
      ...explained,
      is_candidate: text !== null,
      tools: tools.map((tool) => ({ ...tool, authorized: authorized(tool.id) })),
    });
  }
}

function callerOf(body: ExplainBody, { identity }: Configuration, now: number): ExplainedCaller {
  const roles = identity.provider === 'jwt' ? identity.permissions?.roles : undefined;
  const claimed = identity.provider === 'jwt' ? body.claims?.[identity.claims.groups] : undefined;
  const names = body.roles ?? claimed;
  return {
    ...{ groups: body.group ?? null, state: body.state ?? null, toolIds: body.tool_ids ?? null },
    ...{ toolChoice: body.tool_choice ?? null, connections: body.connections ?? null },
    agent: body.agent ?? null,
    ...{ question: body.question ?? null, tenant: body.tenant ?? null, actor: body.user ?? null },
    subject: body.on_behalf_of ?? null,
    ...{ channel: body.channel ?? null, claims: body.claims ?? null },
    permittedGroups: body.permitted_groups ?? (names === undefined ? [wildcard] : groupsOf(names, roles)),
    ...{ at: body.at ?? now, calls: body.calls ?? {} },
    ...{ succeeded: body.succeeded ?? [], approved: body.approved ?? [] },
    depth: body.depth ?? (body.nested === true ? 1 : 0),
    ...{ planned: body.planned ?? false, loads: body.loads ?? {} },
  };
}

/**
 * Whether `authorization` lets the caller run a tool, by its id; null where the caller is not known, or where another
 * service is asked.
 */
async function authorizations(
  { user, tenant, on_behalf_of: subject }: ExplainBody,
  { authorization, tools }: Pick<Configuration, 'authorization' | 'tools'>,
): Promise<(id: string) => boolean | null> {
  if (authorization === null) return () => true;
  const isKnown = (user ?? null) !== null && (tenant ?? null) !== null;
  if (!isKnown || !isDecidedHere(authorization)) return () => null;
  const authorizer = createAuthorizer(authorization);
  const allowed = new Map<string, boolean>();
  for (const { id, spec } of tools) {
    const context = { tenantId: tenant ?? '', runId: 'explain', effect: spec?.effect ?? 'external_side_effect' } as const; // prettier-ignore
    const resource = { type: 'tool', id } as const;
    const answer = await authorizer.check(user ?? '', subject ?? undefined, 'tool.execute', resource, context);
    allowed.set(id, answer.allowed);
  }
  return (id) => allowed.get(id) ?? null;
}
