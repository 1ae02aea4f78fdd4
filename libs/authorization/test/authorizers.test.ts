import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { createAuthorizer } from '@sluice/authorization';
import { compileConfiguration, formatProblems } from '@sluice/core';
import type { AuthorizationPort, AuthorizationSettings } from '@sluice/core';
import { parse } from 'yaml';
import { cedarProblems } from '../src/cedar/problems.js';

interface Case {
  readonly name: string;
  readonly actor: string;
  readonly subject?: string;
  readonly tool?: string;
  readonly connection?: string;
  readonly tenant?: string;
  readonly allowed?: true;
  readonly missing?: 'permission' | 'delegation';
}

const here = (file: string): string => new URL(`./${file}`, import.meta.url).pathname;
const text = (file: string): string => readFileSync(here(file), 'utf8');
const schema = here('../../../examples/authorization/sluice.cedarschema');

const { cases, groups, ...rules } = parse(text('cases/world.yaml')) as {
  readonly cases: readonly Case[];
  readonly groups: object;
};

/** The settings that a file with this section compiles to, through the real Cedar and the real files. */
function compiled(authorization: object): AuthorizationSettings | null {
  const tool = Object.fromEntries(['query', 'update', 'erase'].map((key) => [key, { type: 'knowledge-query' }]));
  const type = {
    type: 'knowledge-query',
    description: '',
    inputSchema: { type: 'object' },
    effect: 'read_only' as const,
    redaction: { whole: true as const },
    repeatable: true,
  };
  const { configuration, problems } = compileConfiguration(
    { tool, authorization },
    {
      types: [type],
      offers: [],
      digest: (content) => createHash('sha256').update(content).digest('hex'),
      files: { read: (file) => ({ text: readFileSync(file, 'utf8') }), cedarProblems },
    },
  );
  if (configuration === null) throw new Error(formatProblems(problems));
  // As it comes off the log.
  return (JSON.parse(JSON.stringify(configuration)) as typeof configuration).authorization;
}

const cedar = { policies: here('cases/world.cedar'), schema };

describe.each<[string, AuthorizationPort]>([
  ['the built-in rules', createAuthorizer(compiled({ groups, ...rules }))],
  ['Cedar', createAuthorizer(compiled({ groups, cedar }))],
])('%s (T-F1a, T-F1b, C-02, E-03, K-54)', (_name, authorizer) => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', async (_case, one) => {
    const { actor, subject, tool, connection, tenant = 'acme' } = one;
    const context = { tenantId: tenant, runId: 'r', effect: 'read_only' as const };
    const answer =
      tool === undefined
        ? authorizer.check(actor, subject, 'connection.use', { type: 'connection', id: connection ?? '' }, context)
        : authorizer.check(actor, subject, 'tool.execute', { type: 'tool', id: tool }, context);
    expect(await answer).toEqual(one.allowed ? { allowed: true } : { allowed: false, missing: one.missing });
  });
});

describe('no authorization (X-4)', () => {
  it('permits everybody everything', async () => {
    const context = { tenantId: 't', runId: 'r', effect: 'external_side_effect' as const };
    const resource = { type: 'tool', id: 'x' } as const;
    const answer = createAuthorizer(null).check('user:a', 'user:b', 'tool.execute', resource, context);
    expect(await answer).toEqual({ allowed: true });
  });
});
