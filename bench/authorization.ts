import { readFileSync } from 'node:fs';
import { createAuthorizer } from '@sluice/authorization';
import type { AuthorizationPort, AuthorizationSettings } from '@sluice/core';
import { median, report } from './measure.js';

const users = 200;
const tools = 100;
const context = { tenantId: 'acme', runId: 'r', effect: 'read_only' as const };

/** What the authorizers take for one question, of an agent that acts for a user: a permission and a delegation. */
export async function benchAuthorization(): Promise<void> {
  const names = Array.from({ length: users }, (_, n) => `user:u${n}`);
  const ids = Array.from({ length: tools }, (_, n) => `core__tool-${n}`);
  const scope = { tenants: ['acme'], connections: [] };
  const rules: AuthorizationSettings = {
    kind: 'rules',
    permissions: ids.map((id) => ({ ...scope, principals: names, tools: [id] })),
    delegations: [{ ...scope, actors: ['agent:planner'], subjects: names, tools: ids }],
  };
  const permits = ids.map(
    (id) =>
      `permit (principal in Group::"staff", action == Action::"tool.execute", resource == Tool::"${id}") when { context.tenant == "acme" };`,
  );
  const delegation = 'permit (principal == Agent::"planner", action == Action::"act.for", resource in Group::"staff");';
  const cedar: AuthorizationSettings = {
    kind: 'cedar',
    policies: [...permits, delegation].join('\n'),
    schema: readFileSync('examples/authorization/sluice.cedarschema', 'utf8'),
    groups: { staff: names },
  };
  const [builtIn, withCedar] = [createAuthorizer(rules), createAuthorizer(cedar)];
  report(`Authorization, ${tools} permissions of ${users} users, with a delegation`, [
    { name: 'the built-in rules', value: await perCheck(builtIn), unit: 'µs', goal: { atMost: 20 } },
    { name: 'Cedar', value: await perCheck(withCedar), unit: 'µs', goal: { atMost: 200 } },
  ]);
}

/** Microseconds, the median of single questions. */
async function perCheck(authorizer: AuthorizationPort): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 4_000; n++) {
    const resource = { type: 'tool', id: `core__tool-${n % tools}` } as const;
    const start = process.hrtime.bigint();
    const answer = await authorizer.check('agent:planner', `user:u${n % users}`, 'tool.execute', resource, context);
    const taken = Number(process.hrtime.bigint() - start) / 1_000;
    if (!answer.allowed) throw new Error('The benchmark asks for what is permitted.');
    if (n >= 500) times.push(taken);
  }
  return median(times);
}
