import { describe, expect, it } from '@jest/globals';
import { compileEvaluator } from '@sluice/core';
import type { BoundTool, Configuration, ConnectionSettings } from '@sluice/core';
import type { ToolCall } from '@sluice/contracts';
import { configurationOf, configured, context } from '../../sources/test/configured.js';
import { careless } from '../../../test/connections/careless.js';
import { judgeConnection } from '@sluice/run';

const [reader] = careless;
if (reader === undefined) throw new Error('There is no tool.');
const tool = { id: 'core__reader', requiresConnection: true } as BoundTool;
const crm: ConnectionSettings = { id: 'crm', tenants: ['acme'], adapter: 'environment', variable: 'CRM' };

const under = (connection: string | null, connections: readonly ConnectionSettings[] = [crm]) => {
  const changes = connection === null ? {} : { connection };
  const configuration: Configuration = { ...configurationOf([configured(reader, changes)]), connections };
  return compileEvaluator(configuration);
};
const record = (granted: readonly string[] | null, requested: readonly string[] | null, tenantId = 'acme') =>
  ({
    request: { connections: requested },
    run: {
      principal:
        granted === null ? null : { actorId: 'user:a', tenantId, subjectId: null, groups: [], connections: granted },
    },
  }) as unknown as ToolCall;
const own = { ...context, tenantId: 'acme', connectionId: 'crm' };
const good = under('crm');

describe('a call’s connection (invariant 30)', () => {
  it.each([
    ['grant and request name it', record(['crm'], ['crm']), [good, good]],
    ['grant and request name all', record(['*'], ['*']), [good, good]],
    ['the grant names it and the request all', record(['crm', 'x'], ['*']), [good, good]],
  ])('may be used where %s (T-30a)', (_, given, judges) => {
    expect(judgeConnection(tool, own, given, judges)).toEqual({ ok: true });
  });

  it.each([
    ['the request does not name it', record(['crm'], ['x']), [good, good]],
    ['the request names none', record(['*'], null), [good, good]],
    ['the grant does not name it', record(['x'], ['crm']), [good, good]],
    ['nobody granted anything', record(null, ['*']), [good, good]],
    ['it is not the tenant’s', record(['*'], ['*'], 'globex'), [good, good]],
    ['it is no longer configured', record(['*'], ['*']), [good, under('crm', [])]],
    ['it is no longer the tool’s', record(['*'], ['*']), [good, under(null)]],
    ['it is another one’s now', record(['*'], ['*']), [good, under('x', [crm, { ...crm, id: 'x' }])]],
    ['it was taken from the tenant', record(['*'], ['*']), [good, under('crm', [{ ...crm, tenants: [] }])]],
    ['it came after the grant', record(['*'], ['*']), [under('crm', []), good]],
  ])('is refused where %s (T-30a, T-30c, P-04c, K-28)', (_, given, judges) => {
    expect(judgeConnection(tool, own, given, judges)).toMatchObject({
      ok: false,
      code: 'policy_denied',
      reason: 'connection_not_allowed',
    });
  });

  it('is refused where the context names none (T-26b2, P-04a, X-2, K-49)', () => {
    expect(judgeConnection(tool, context, record(['*'], ['*']), [good])).toMatchObject({
      ok: false,
      code: 'policy_denied',
      reason: 'connection_missing',
    });
  });

  it('does not matter for a tool that needs none', () => {
    const open = { ...tool, requiresConnection: false };
    expect(judgeConnection(open, context, record(null, null), [good])).toEqual({ ok: true });
  });
});
