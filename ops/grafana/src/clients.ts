import { dashboardOf } from './dashboard.ts';
import { figure, lines } from './panels.ts';
import { increase, of, orZero, quantile, rate, sumBy } from './queries.ts';

const mcpCalls = 'sluice_mcp_calls_total';
const proxied = 'sluice_proxy_requests_total';
const called = 'sluice_discovery_called_total';
const beside = 'sluice_discovery_shadow_called_total';

export const clients = dashboardOf({
  name: 'clients',
  title: 'MCP clients and the proxy',
  description: 'What MCP clients call, and what the proxy in front of model APIs passes on.',
  variables: [],
  rows: {
    'MCP clients': [
      figure(
        { title: 'Calls in the time range', description: 'Of all MCP clients, refused ones included.', unit: 'short' },
        sumBy('', increase(mcpCalls)),
      ),
      figure(
        { title: 'Sessions', description: 'Open, of the protocol before 2026.', unit: 'short' },
        // Each process says the same.
        `max(${of('sluice_mcp_sessions')})`,
      ),
      lines(
        {
          title: 'Calls by outcome',
          description: 'Ok, pending an approval, or failed by category; docs/mcp.md has each.',
          unit: 'cps',
        },
        { expr: sumBy('outcome', rate(mcpCalls)), legend: '{{outcome}}' },
      ),
      lines(
        {
          title: 'What became of sessions',
          description: 'Begun, ended, displaced, unknown (often: expired), and streams that clients resumed.',
          unit: 'cps',
        },
        { expr: sumBy('event', rate('sluice_mcp_session_events_total')), legend: '{{event}}' },
      ),
      lines(
        { title: 'Duration of a call, 95 % within', description: 'From its arrival to its result.', unit: 's' },
        { expr: quantile(0.95, 'sluice_mcp_call_duration_seconds', ''), legend: '95 %' },
      ),
    ],
    'Proxy in front of model APIs': [
      figure(
        { title: 'Requests under way', description: 'Received by the proxy and not finished.', unit: 'short' },
        sumBy('', of('sluice_proxy_requests_open')),
      ),
      lines(
        { title: 'Requests by upstream', description: 'Sent on, whatever came back.', unit: 'reqps' },
        { expr: sumBy('upstream', rate(proxied)), legend: '{{upstream}}' },
      ),
      lines(
        {
          title: 'Answers by status',
          description: 'The status of the upstream, or why there was none.',
          unit: 'reqps',
        },
        { expr: sumBy('status', rate(proxied)), legend: '{{status}}' },
      ),
      lines(
        {
          title: 'Time to the head of an answer, 95 % within',
          description: 'From sending a request on to the first line of its answer.',
          unit: 's',
        },
        { expr: quantile(0.95, 'sluice_proxy_upstream_seconds', 'upstream'), legend: '{{upstream}}' },
      ),
      lines(
        {
          title: 'Fallbacks',
          description: 'Requests that went on to the next upstream, by the one that failed.',
          unit: 'reqps',
        },
        { expr: orZero(sumBy('upstream', rate('sluice_proxy_fallbacks_total'))), legend: '{{upstream}}' },
      ),
    ],
    Notifications: [
      lines(
        {
          title: 'Notifications taken',
          description: 'Webhooks, messages in Slack and mails, by receiver.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('kind, subscription', rate('sluice_notifications_total'))),
          legend: '{{kind}} {{subscription}}',
        },
      ),
      lines(
        {
          title: 'Notifications not taken',
          description: 'Attempts, by receiver and reason; docs/notifications.md has each.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('kind, subscription, reason', rate('sluice_notification_failures_total'))),
          legend: '{{kind}} {{subscription}} {{reason}}',
        },
      ),
      lines(
        {
          title: 'Delay of notifications, 95 % within',
          description: 'From an event to the answer of its receiver.',
          unit: 's',
        },
        {
          expr: orZero(quantile(0.95, 'sluice_notification_delay_seconds', 'kind, subscription')),
          legend: '{{kind}} {{subscription}}',
        },
      ),
      lines(
        { title: 'Oldest notification', description: 'Age of the oldest event that is being sent.', unit: 's' },
        {
          expr: orZero(`max by (subscription) (${of('sluice_notification_oldest_seconds')})`),
          legend: '{{subscription}}',
        },
      ),
      lines(
        {
          title: 'Interactions in Slack',
          description: 'Dialogs opened, decisions, and what was refused, by result; docs/notifications.md has each.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('result', rate('sluice_slack_interactions_total'))), legend: '{{result}}' },
      ),
    ],
    Schedules: [
      lines(
        { title: 'Runs by schedules', description: 'Started, by schedule.', unit: 'cps' },
        { expr: orZero(sumBy('schedule', rate('sluice_schedule_starts_total'))), legend: '{{schedule}}' },
      ),
      lines(
        {
          title: 'Due times left out',
          description: 'By schedule and reason; docs/schedules.md has each.',
          unit: 'cps',
        },
        {
          expr: orZero(sumBy('schedule, reason', rate('sluice_schedule_skips_total'))),
          legend: '{{schedule}} {{reason}}',
        },
      ),
      lines(
        { title: 'Late runs', description: 'How late the oldest run is that is not started yet.', unit: 's' },
        {
          expr: orZero(`max by (schedule) (${of('sluice_schedule_late_seconds')})`),
          legend: '{{schedule}}',
        },
      ),
    ],
    'Tool discovery': [
      lines(
        {
          title: 'Tools kept, of all tools',
          description: 'By strategy, of the first request to the model.',
          unit: 'percentunit',
        },
        {
          expr: `${sumBy('strategy', rate('sluice_discovery_tools_total', 'status="kept"'))} / ${sumBy('strategy', rate('sluice_discovery_tools_total'))}`,
          legend: '{{strategy}}',
        },
      ),
      lines(
        {
          title: 'Tokens of tool definitions',
          description: 'Of all that clients sent (before), and of those in the first request to the model (after).',
          unit: 'short',
        },
        { expr: sumBy('list', rate('sluice_discovery_tokens_total')), legend: '{{list}}' },
      ),
      lines(
        {
          title: 'Requests by outcome',
          description: 'Changed, or why their tools were left as they are.',
          unit: 'reqps',
        },
        { expr: sumBy('outcome', rate('sluice_discovery_requests_total')), legend: '{{outcome}}' },
      ),
      lines(
        {
          title: 'Called tools that were shown at once',
          description: 'The others were found by a search.',
          unit: 'percentunit',
        },
        {
          expr: `${sumBy('strategy', rate(called, 'shown="first"'))} / ${sumBy('strategy', rate(called))}`,
          legend: '{{strategy}}',
        },
      ),
      lines(
        {
          title: 'Recall of the shadow strategy',
          description: 'Of the tools that models called, those that the strategy beside would have shown.',
          unit: 'percentunit',
        },
        {
          expr: `${sumBy('strategy', rate(beside, 'result="kept"'))} / ${sumBy('strategy', rate(beside))}`,
          legend: '{{strategy}}',
        },
      ),
      lines(
        { title: 'Searches of models', description: 'By how they were answered.', unit: 'reqps' },
        { expr: sumBy('by', rate('sluice_discovery_searches_total')), legend: '{{by}}' },
      ),
      lines(
        {
          title: 'Tools found by a search',
          description: 'Tools that a search of the model found, on average.',
          unit: 'short',
        },
        {
          expr: `${sumBy('by', rate('sluice_discovery_matches_total'))} / ${sumBy('by', rate('sluice_discovery_searches_total'))}`,
          legend: '{{by}}',
        },
      ),
      lines(
        { title: 'Rounds of searches, 95 % within', description: 'Before there was an answer.', unit: 'short' },
        { expr: quantile(0.95, 'sluice_discovery_rounds', 'source'), legend: '{{source}}' },
      ),
      lines(
        {
          title: 'Time to choose the tools, 95 % within',
          description: 'From a request’s coming to the choice of its tools.',
          unit: 's',
        },
        { expr: quantile(0.95, 'sluice_discovery_choose_seconds', 'strategy'), legend: '{{strategy}}' },
      ),
      lines(
        {
          title: 'Searches that gave all tools',
          description: 'Since the selector of the strategy api gave no selection, by reason.',
          unit: 'reqps',
        },
        { expr: orZero(sumBy('reason', rate('sluice_discovery_fail_open_total'))), legend: '{{reason}}' },
      ),
      lines(
        {
          title: 'Requests under hybrid',
          description: 'By what they went by: used is the closeness of meanings, all else words alone, and why.',
          unit: 'reqps',
        },
        { expr: orZero(sumBy('way', rate('sluice_discovery_meanings_total'))), legend: '{{way}}' },
      ),
      lines(
        { title: 'Records of discovery dropped', description: 'By where they could not be written.', unit: 'cps' },
        { expr: orZero(sumBy('to', rate('sluice_discovery_records_dropped_total'))), legend: '{{to}}' },
      ),
    ],
  },
});
