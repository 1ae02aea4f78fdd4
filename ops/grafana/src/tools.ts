import { choice, dashboardOf } from './dashboard.ts';
import { columns, figure, lines, rows } from './panels.ts';
import { increase, of, orZero, quantile, rate, sumBy } from './queries.ts';

const tool = 'tool=~"$tool"';
const source = 'source=~"$source"';
const calls = rate('sluice_tool_calls_total', tool, source);
const failures = rate('sluice_tool_calls_total', tool, source, 'outcome!="ok"');

export const tools = dashboardOf({
  name: 'tools',
  title: 'Tools',
  description: 'What tools are called, how they fare, how long they take, and which calls wait for an approval.',
  variables: [
    choice('tool', 'Tool', 'label_values(sluice_tool_calls_total{job="sluice"}, tool)'),
    choice('source', 'Source', 'label_values(sluice_tool_calls_total{job="sluice"}, source)'),
  ],
  rows: {
    Calls: [
      lines(
        { title: 'Calls by tool', description: 'Calls that became steps, refused ones included.', unit: 'cps' },
        { expr: sumBy('tool', calls), legend: '{{tool}}' },
      ),
      lines(
        {
          title: 'Calls by source',
          description: 'Built-in tools and files count as “core”, the others by their MCP server.',
          unit: 'cps',
        },
        { expr: sumBy('source', calls), legend: '{{source}}' },
      ),
      lines(
        {
          title: 'Failed calls by code',
          description: 'Refused, malformed or failed; docs/errors.md has each code.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('outcome', failures)), legend: '{{outcome}}' },
      ),
      lines(
        {
          title: 'Calls refused by rules',
          description: 'By the rule’s name. One that refuses much is too narrow, or keeps something out.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('rule, kind', rate('sluice_rule_refusals_total'))), legend: '{{rule}}: {{kind}}' },
      ),
      lines(
        {
          title: 'Lists read',
          description: 'Lists that are kept elsewhere, by outcome. Where one cannot be read for long, its rules close.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('list, outcome', rate('sluice_list_reads_total'))), legend: '{{list}}: {{outcome}}' },
      ),
      lines(
        { title: 'Age of lists', description: 'Since each list that is kept elsewhere was read.', unit: 's' },
        { expr: orZero(`max by (list) (${of('sluice_list_age_seconds')})`), legend: '{{list}}' },
      ),
      lines(
        {
          title: 'Share of calls that fail',
          description: 'By tool. A tool that mostly fails has a bad description, a bad schema or a server in trouble.',
          unit: 'percentunit',
        },
        { expr: `${sumBy('tool', failures)} / ${sumBy('tool', calls)}`, legend: '{{tool}}' },
      ),
      lines(
        {
          title: 'Duration, 95 % within',
          description: 'From the start of a call to its result, without the time spent waiting for an approval.',
          unit: 's',
        },
        { expr: quantile(0.95, 'sluice_tool_call_duration_seconds', 'tool', tool), legend: '{{tool}}' },
      ),
      lines(
        {
          title: 'Bytes in and out',
          description: 'Arguments and results. A result goes to the model in every later turn of its run.',
          unit: 'Bps',
        },
        { expr: sumBy('tool, direction', rate('sluice_tool_bytes_total', tool)), legend: '{{tool}}: {{direction}}' },
      ),
      rows(
        {
          title: 'Calls by tool, source and outcome',
          description: 'In the time range, the most frequent first.',
          unit: 'short',
        },
        `topk(50, ${sumBy('tool, source, outcome', increase('sluice_tool_calls_total', tool, source))} > 0)`,
        ...columns({ tool: 'Tool', source: 'Source', outcome: 'Outcome', Value: 'Calls' }),
      ),
      lines(
        {
          title: 'Expired grants',
          description: 'Turns that went back to the filter because the model took longer than a grant lasts.',
          unit: 'cps',
        },
        { expr: sumBy('', rate('sluice_expired_grants_total')), legend: 'expired' },
      ).span(12),
      lines(
        {
          title: 'Tool processes that ended in a call',
          description:
            'By tool type: it crashed, used too much memory, ran out of time without stopping, or wrote too much.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('type, reason', rate('sluice_tool_process_ends_total'))),
          legend: '{{type}}: {{reason}}',
        },
      ).span(12),
    ],
    'Approvals and effects': [
      figure(
        {
          title: 'Waiting',
          description: 'Calls that are parked until an approver decides.',
          unit: 'short',
        },
        orZero(`max(${of('sluice_approvals_waiting')})`),
      ),
      figure(
        {
          title: 'Waiting longest',
          description: 'Age of the oldest approval without a decision.',
          unit: 's',
        },
        orZero(`max(${of('sluice_approvals_oldest_seconds')})`),
        900,
      ),
      figure(
        {
          title: 'Outcome unknown',
          description: 'Calls with effects, in the time range, whose effect is unknown. Find out.',
          unit: 'short',
        },
        orZero(sumBy('', increase('sluice_tool_outcome_unknown_total', tool))),
        1,
      ),
      lines(
        {
          title: 'Approvals asked for',
          description: 'Calls that were parked, by tool.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('tool', rate('sluice_approvals_requested_total', tool))), legend: '{{tool}}' },
      ).span(12),
      lines(
        {
          title: 'Approvals decided',
          description: 'Their outcomes. Many that expire: the approvers do not hear of them.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('decision', rate('sluice_approvals_decided_total'))), legend: '{{decision}}' },
      ).span(12),
      lines(
        {
          title: 'Approvals of several, and escalations',
          description:
            'Approvals of calls that wait for further ones, and calls that others may decide on too, by rule.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('', rate('sluice_approvals_given_total'))), legend: 'one of several' },
        { expr: orZero(sumBy('rule', rate('sluice_approvals_escalated_total'))), legend: 'escalated: {{rule}}' },
      ).span(12),
      lines(
        {
          title: 'Calls by standing approvals',
          description:
            'Calls that ran unasked, by the word that an approver gave before: sluice approvals standing list.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('tool', rate('sluice_standing_approval_calls_total', tool))),
          legend: '{{tool}}',
        },
        {
          expr: orZero(sumBy('action', rate('sluice_standing_approvals_total'))),
          legend: '{{action}}',
        },
      ).span(12),
      lines(
        {
          title: 'Decisions that did not count',
          description: 'By the reason; docs/approvals.md explains each.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('reason', rate('sluice_approval_decisions_not_taken_total'))), legend: '{{reason}}' },
      ).span(12),
      lines(
        {
          title: 'What strategies decide',
          description:
            'Turns of runs that work by a plan. Many plans for few calls: plans are refused, or their steps fail.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('strategy, action', rate('sluice_strategy_decisions_total'))),
          legend: '{{strategy}}: {{action}}',
        },
      ).span(12),
      lines(
        {
          title: 'Weak results of plan steps',
          description:
            'Results with a confidence of 0.6 or less, by the formula that measured it. Many: look at the arguments, or at the data.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('kind', rate('sluice_step_confidence_bucket', 'le="0.6"'))),
          legend: '{{kind}}',
        },
      ).span(12),
      lines(
        {
          title: 'Lost calls that the tool was asked about',
          description: 'By what its reconcile answered. Where it answered unknown, an operator has to find out.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('tool, answer', rate('sluice_reconciled_calls_total', tool))),
          legend: '{{tool}}: {{answer}}',
        },
      ).span(12),
    ],
    'MCP servers': [
      lines(
        {
          title: 'Servers connected',
          description: '1 where an executor is connected, 0 where none is.',
          unit: 'short',
        },
        { expr: `max by (server) (${of('sluice_mcp_server_ready')})`, legend: '{{server}}' },
      ),
      lines(
        { title: 'Latency, 95 % within', description: 'From sending a call to a server to its answer.', unit: 's' },
        { expr: quantile(0.95, 'sluice_mcp_server_call_duration_seconds', 'server'), legend: '{{server}}' },
      ),
      lines(
        { title: 'Failed calls by server', description: 'Calls that gave no result.', unit: 'cps' },
        {
          expr: orZero(sumBy('server', rate('sluice_mcp_server_call_duration_seconds_count', 'outcome="failed"'))),
          legend: '{{server}}',
        },
      ),
      lines(
        {
          title: 'Answered from the cache',
          description:
            'Calls of tools with `cache_seconds`: a hit is answered by the result of an equal call, a miss is made.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('server, outcome', rate('sluice_mcp_cached_calls_total'))),
          legend: '{{server}}: {{outcome}}',
        },
      ),
      lines(
        {
          title: 'Asked by servers',
          description:
            'What servers asked in the middle of calls. Refused questions are of kinds that are off, or no person could answer: the executor’s log has the first reason.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('server, kind, outcome', rate('sluice_mcp_questions_total'))),
          legend: '{{server}}: {{kind}} {{outcome}}',
        },
      ),
      figure(
        {
          title: 'Waiting for callers',
          description: 'Calls that are parked until their caller has answered a form of a server.',
          unit: 'short',
        },
        orZero(`max(${of('sluice_mcp_questions_waiting')})`),
      ),
      lines(
        {
          title: 'Said by servers',
          description:
            'Progress and log messages of servers while calls run: relayed to the caller, or dropped beyond the bounds or by the redaction. Updated: changes of resources that clients subscribed to.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('server, kind, outcome', rate('sluice_mcp_notices_total'))),
          legend: '{{server}}: {{kind}} {{outcome}}',
        },
      ),
      lines(
        {
          title: 'Content store',
          description:
            'Uses of the content store. Where some failed, steps have their observation alone, or long results are lost: the executor’s log says why.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('operation, outcome', rate('sluice_content_operations_total'))),
          legend: '{{operation}}: {{outcome}}',
        },
      ),
      lines(
        { title: 'Bytes of content', description: 'Written to the content store, and read from it.', unit: 'Bps' },
        { expr: orZero(sumBy('direction', rate('sluice_content_bytes_total'))), legend: '{{direction}}' },
      ),
      lines(
        {
          title: 'Content removed',
          description: 'Its time was over, or its writer ended before a record could name it (`unnamed`).',
          unit: 'cps',
        },
        { expr: orZero(sumBy('reason', rate('sluice_content_removed_total'))), legend: '{{reason}}' },
      ),
      lines(
        {
          title: 'Tools withheld',
          description:
            'Configured, and not offered. `sluice mcp servers` says why, `sluice mcp approve` allows what changed.',
          unit: 'short',
        },
        { expr: `max by (server) (${of('sluice_mcp_server_tools', 'status="withheld"')})`, legend: '{{server}}' },
      ),
    ],
  },
});
