import { usageDimensions } from '@sluice/projection';
import { ref } from '../../record-schemas.js';
import {
  text,
  textOrNull,
  whole,
  time,
  timeOrNull,
  countOrNull,
  numberOrNull,
  list,
  described,
  object,
  version,
} from '../../schema-parts.js';
import type { JsonSchema } from '../../json-schema.js';

export function usageSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    UsageList: object('What was used, by one thing.', {
      by: { enum: usageDimensions, description: 'What it is added up by.' },
      since: time('The beginning of the first day.'),
      until: time('The end of the last day.'),
      rows: list(ref('UsageRow'), 'By day the latest first, by tool the most called, else what cost most.'),
      total: {
        anyOf: [ref('UsageRow'), { type: 'null' }],
        description: 'All rows together; null by tool and by tenant, and where nothing was used.',
      },
      left_out: { type: 'boolean', description: 'Whether there are more rows.' },
    }),
    UsageRow: object('What was used under one name.', {
      name: text('The user, model, outcome, tool or tenant, or the day as 2026-01-31.'),
      runs: countOrNull('Runs that ended; null by tool.'),
      calls: countOrNull('Calls; null but by tool.'),
      failures: whole('Of these, how many ended with an error.'),
      tokens: { anyOf: [ref('Tokens'), { type: 'null' }], description: 'Tokens of the runs; null by tool.' },
      usd: numberOrNull('What they cost, in US dollars; null where no price is configured.'),
      runs_without_price: countOrNull('Runs of which the cost is not known.'),
      mean_ms: countOrNull('How long a run took on average.'),
      p50_ms: countOrNull('By tool: within so long half of the calls ended, to a tenth.'),
      p95_ms: countOrNull('By tool: within so long 95 of 100 calls ended, to a tenth.'),
    }),
  };
}

export function statusSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    SystemStatus: object('How the installation stands.', {
      at: time('When it was looked at.'),
      version: text('The version of this gateway.'),
      instance: text('Names this gateway.'),
      bus: { enum: ['sqlite', 'kafka'], description: 'What the log is on.' },
      config_version: textOrNull('The configuration in force; null while there is none.'),
      roles: list(ref('RoleStatus'), 'The roles that take records from the log.'),
      checks: list(ref('CheckStatus'), 'What this process stands on.'),
      runs: described('RunStatus', 'The runs of all tenants.'),
      approvals: described('ApprovalStatus', 'The calls of all tenants that wait.'),
      dead_letters: described('DeadLetterStatus', 'Records that could not be processed.'),
    }),
    RoleStatus: object('How far a role is.', {
      role: text('The role.'),
      lag: countOrNull(
        'Records that it has not finished; on Kafka transaction markers count. Null where it cannot be read.',
      ),
      topics: list(ref('TopicLag'), 'The same by topic.'),
      problem: textOrNull('Why the lag cannot be read.'),
    }),
    TopicLag: object('What a role has not finished of a topic.', {
      topic: text('The topic.'),
      lag: whole('Records.'),
    }),
    CheckStatus: object('A part that the process stands on.', {
      name: text('The part.'),
      ok: { type: 'boolean', description: 'Whether it can be used.' },
      said: text('`ok`, or what is wrong.'),
    }),
    RunStatus: object('Runs that have not ended.', {
      running: whole('How many there are.'),
      oldest_at: timeOrNull('When the first of them began.'),
      overdue: whole('How many of the first 100 late ones nothing has ended a minute behind their time.'),
      overdue_more: { type: 'boolean', description: 'Whether there are more late ones.' },
      overdue_runs: list(ref('OverdueRun'), 'The first 20 of them.'),
    }),
    OverdueRun: object('A run that should have ended.', {
      tenant: text('Its tenant.'),
      request_id: text('Names the run.'),
      deadline: time('When it must have ended.'),
    }),
    ApprovalStatus: object('Calls that wait for an approval.', {
      waiting: whole('How many there are.'),
      oldest_at: timeOrNull('Since when the first of them waits.'),
    }),
    DeadLetterStatus: object('Dead letters.', {
      last_day: whole('Of the last 24 hours.'),
      latest_at: timeOrNull('When the latest of these was written.'),
    }),
  };
}

export function serverSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    ServerList: object('The MCP servers of the configuration in force.', {
      ...version,
      servers: list(ref('ListedServer'), 'The servers.'),
    }),
    ListedServer: object('An MCP server.', {
      name: text('As the configuration names it.'),
      transport: { enum: ['stdio', 'http'], description: 'How it is reached.' },
      at: text('Its program without arguments, or its address without a query.'),
      state: text(
        '`ready`, `connecting`, `waiting` (away, tried again), `idle` (not asked yet), `closed`, or `unknown`.',
      ),
      executors: list(ref('ServerReport'), 'How it stands with each executor that reports.'),
      tools: list(ref('ServerTool'), 'Its tools in the configuration, 1,000 at most.'),
      held_back: list(ref('HeldBackTool'), 'Tools that it offers otherwise than they were allowed.'),
    }),
    ServerReport: object('How a server stands with an executor.', {
      instance: text('Names the executor.'),
      state: text('As above.'),
      error: textOrNull('Why it is away.'),
      since: time('Since when that is so.'),
    }),
    ServerTool: object('A tool of a server.', {
      key: text('As the configuration names it.'),
      name: text('As its server names it.'),
      offered: { type: 'boolean', description: 'Whether runs can be offered it.' },
      unavailable: textOrNull('Why not.'),
    }),
    HeldBackTool: object('A tool that changed since it was allowed.', {
      tool: text('As its server names it.'),
      key: textOrNull('As the configuration names it; null where it is not known how it was allowed.'),
      description: text('The description as its server has it now.'),
      pin: text('A hash of what its server says of it, by which it is allowed as it is now.'),
      changes: list(ref('ToolChange'), 'What differs, 50 changes at most.'),
    }),
    AcceptedChanges: object('Tools of a server are allowed as they are now.', {
      config_version: text('The version that has them, which is in force.'),
      replaced: text('The version that was in force before.'),
      status: { enum: ['accepted', 'in_force_already'] },
    }),
    ToolChange: object('A difference; null where there was, or is, nothing.', {
      path: text('Where.'),
      was: textOrNull('As it was allowed.'),
      is: textOrNull('As it is now.'),
    }),
    ConnectionList: object('The connections of the configuration in force.', {
      ...version,
      connections: list(ref('ListedConnection'), 'The connections.'),
    }),
    ListedConnection: object('A connection, without its credential.', {
      name: text('As requests name it.'),
      tenants: list(text('A tenant; `*` is every one.'), 'Who may use it.'),
      servers: list(text('A server.'), 'MCP servers that are reached by it.'),
      tools: list(text('The key of a tool.'), 'Tools that need it.'),
    }),
  };
}
