import { dashboardOf } from './dashboard.ts';
import { columns, lines, rows } from './panels.ts';
import { increase, of, orZero, quantile, rate, sumBy } from './queries.ts';

const offered = (share: number): string => quantile(share, 'agent_filtered_tools_count');
const filterings = sumBy('', rate('agent_filtered_tools_count_count'));

export const groupsAndStates = dashboardOf({
  name: 'groups-and-states',
  title: 'Groups and states',
  description: 'What callers ask for, what they are offered, and how runs go through the states.',
  rows: {
    Groups: [
      lines(
        {
          title: 'Requests by group',
          description: 'Groups that requests name, after the default. Names that no tool carries count as “other”.',
          unit: 'reqps',
        },
        { expr: sumBy('group', rate('agent_tool_group_requests_total')), legend: '{{group}}' },
      ),
      lines(
        {
          title: 'Tools by group',
          description: 'Configured tools that carry the group. A step is a change of the configuration.',
          unit: 'short',
        },
        { expr: `max by (group) (${of('agent_tool_group_availability')})`, legend: '{{group}}' },
      ),
      lines(
        {
          title: 'Groups refused',
          description: 'Requested groups that the caller was not permitted; the Security dashboard says by whom.',
          unit: 'cps',
        },
        { expr: sumBy('group', rate('agent_group_access_denied_total')), legend: '{{group}}' },
      ),
    ],
    'What is offered': [
      lines(
        {
          title: 'Tools offered in a turn',
          description: 'After the filter by group and state. Many at once cost tokens and make the model choose worse.',
          unit: 'short',
        },
        { expr: offered(0.5), legend: 'median' },
        { expr: offered(0.95), legend: '95 %' },
      ),
      lines(
        {
          title: 'Turns without any tool',
          description: 'Share of the filterings that left nothing: the model has to answer by itself.',
          unit: 'percentunit',
        },
        {
          expr: `${sumBy('', rate('agent_filtered_tools_count_bucket', 'le="0"'))} / ${filterings}`,
          legend: 'without tools',
        },
      ),
      lines(
        {
          title: 'Why tools are hidden',
          description: 'Hidden tools a second, by the first reason. sluice explain shows a single decision.',
          unit: 'cps',
        },
        { expr: sumBy('reason', rate('sluice_hidden_tools_total')), legend: '{{reason}}' },
      ),
    ],
    'How decisions are made': [
      lines(
        {
          title: 'Time of a decision',
          description: 'Of the filter, without measuring loads and signing.',
          unit: 's',
        },
        { expr: quantile(0.5, 'sluice_filter_duration_seconds'), legend: 'median' },
        { expr: quantile(0.99, 'sluice_filter_duration_seconds'), legend: '99 %' },
      ),
      lines(
        {
          title: 'Decisions that were remembered',
          description: 'Share of the look-ups for groups and a state that were decided on before.',
          unit: 'percentunit',
        },
        {
          expr: `${sumBy('', rate('sluice_filter_memory_total', 'result="hit"'))} / ${sumBy('', rate('sluice_filter_memory_total'))}`,
          legend: 'hits',
        },
      ),
      lines(
        {
          title: 'Loads that rules go by',
          description: 'The value that rules on availability were last judged by.',
          unit: 'short',
        },
        { expr: orZero(`max by (measure) (${of('sluice_rule_load')})`), legend: '{{measure}}' },
      ),
      lines(
        {
          title: 'Loads that could not be measured',
          description: 'While a load is not known, the rules about it close their tools.',
          unit: 'cps',
        },
        { expr: sumBy('', rate('sluice_rule_load_unmeasured_total')), legend: 'unmeasured' },
      ),
      lines(
        {
          title: 'Groups that stood in for others',
          description: 'Turns in which a requested group had no available tool and another one took its place.',
          unit: 'cps',
        },
        { expr: orZero(sumBy('group', rate('sluice_fallback_groups_total'))), legend: '{{group}}' },
      ),
    ],
    States: [
      lines(
        {
          title: 'Transitions by tool',
          description: 'Changes of state, by the tool that made them.',
          unit: 'cps',
        },
        { expr: sumBy('tool', rate('agent_state_transitions_total')), legend: '{{tool}}' },
      ),
      lines(
        {
          title: 'Time in a state, 95 % within',
          description: 'Observed when a state is left and at the end of the run.',
          unit: 's',
        },
        { expr: quantile(0.95, 'agent_workflow_duration_seconds', 'state'), legend: '{{state}}' },
      ),
      lines(
        {
          title: 'Tools by state',
          description: 'Configured tools that are available in the state. None: a dead end.',
          unit: 'short',
        },
        { expr: `max by (state) (${of('agent_state_availability')})`, legend: '{{state}}' },
      ),
      rows(
        {
          title: 'The flow: from a state (rows) to a state (columns)',
          description:
            'Changes of state in the time range. One that was not meant to be allowed is a gap in the configuration.',
          unit: 'short',
        },
        sumBy('from, to', increase('sluice_state_changes_total')),
        {
          id: 'groupingToMatrix',
          options: { rowField: 'from', columnField: 'to', valueField: 'Value', emptyValue: 'zero' },
        },
      ),
      rows(
        {
          title: 'The busiest transitions',
          description: 'The same as a list, the most frequent first.',
          unit: 'short',
        },
        `topk(20, ${sumBy('from, to', increase('sluice_state_changes_total'))})`,
        ...columns({ from: 'From', to: 'To', Value: 'Changes' }),
      ),
    ],
  },
});
