import { Controller, Inject, Query } from '@nestjs/common';
import { wildcard } from '@sluice/core';
import type { Principal } from '@sluice/core';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { Usage } from '@sluice/projection';
import { shownGroups } from '../listed-tool.js';
import { Lists } from '../lists/lists.js';
import { Operators } from '../operators.js';
import { Route } from '../openapi/route.js';
import { ByPrincipal } from '../rights.js';
import { tokensOf } from '../run-progress.js';
import { RunReaders } from '../run-readers.js';
import { callStatistics } from './call-statistics.js';
import { usageQuery } from './usage-query.js';

const route = 'GET /v1/usage';

/** What was used: runs, tokens and cost that the projection adds up by day as runs end (docs/http.md). */
@Controller()
export class UsageController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'clock' | 'configurations'>,
    @Inject(Lists) private readonly lists: Lists,
    @Inject(RunReaders) private readonly readers: RunReaders,
    @Inject(Operators) private readonly operators: Operators,
  ) {}

  @Route('readUsage')
  async usage(@ByPrincipal() principal: Principal, @Query() query: Readonly<Record<string, unknown>>): Promise<object> {
    const { by, since, until, tenant, limit } = usageQuery(query, this.runtime.clock.now());
    const { caller, seesAll } = await this.readers.of(principal, tenant, route);
    const { projection } = this.lists;
    const span = { since, until };
    const about = { by, since, until };
    if (by === 'tool') {
      const all = callStatistics(await projection.callTimes(caller.tenantId, span));
      // Of a tool whose groups it may not ask for, a caller learns no name.
      const shown = shownGroups(this.runtime.configurations.current().evaluator, principal);
      const isAll = seesAll || principal.groups.includes(wildcard);
      const tools = isAll ? all : all.filter(({ tool }) => shown(tool).length > 0);
      return { ...about, rows: tools.slice(0, limit).map(toolRow), total: null, left_out: left(tools, limit) };
    }
    if (by === 'tenant') await this.operators.require(principal, route);
    const ofTenant = by === 'tenant' ? null : caller.tenantId;
    const rows = await projection.usage(by, ofTenant, span, limit + 1);
    const [total] = await projection.usage('tenant', ofTenant, span, 1);
    return {
      ...about,
      rows: rows.slice(0, limit).map((row) => runRow(by === 'day' ? dayName(row) : String(row.name), row)),
      total: ofTenant === null || total === undefined ? null : runRow('', total),
      left_out: left(rows, limit),
    };
  }
}

/** Whether there are more. */
function left(rows: readonly unknown[], limit: number): boolean {
  return rows.length > limit;
}

function dayName({ name }: Usage): string {
  return new Date(Number(name)).toISOString().slice(0, 10);
}

function runRow(name: string, usage: Usage): object {
  const { count, failures, microUsd, unpriced, durationMs } = usage;
  return {
    ...{ name, runs: count, calls: null, failures },
    tokens: tokensOf(usage),
    usd: unpriced === count ? null : microUsd / 1_000_000,
    runs_without_price: unpriced,
    ...{ mean_ms: Math.round(durationMs / count), p50_ms: null, p95_ms: null },
  };
}

function toolRow({ tool, calls, failures, p50, p95 }: ReturnType<typeof callStatistics>[number]): object {
  const none = { tokens: null, usd: null, runs_without_price: null, mean_ms: null };
  return { name: tool, runs: null, calls, failures, ...none, p50_ms: p50, p95_ms: p95 };
}
