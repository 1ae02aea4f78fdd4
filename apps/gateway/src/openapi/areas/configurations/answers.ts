import { hiddenReasons, toolEffects } from '@sluice/core';
import { ref } from '../../record-schemas.js';
import { text, textOrNull, whole, time, list, described, object, ids, isSo, open, tools } from '../../schema-parts.js';
import type { JsonSchema } from '../../json-schema.js';

const names = (description: string): JsonSchema => list(text('A name.'), description);
const left = { left_out: whole('What was left out to keep the answer small.') };
const place = {
  line: { type: ['integer', 'null'], description: 'The line, from 1; null where it is not known.' },
  column: { type: ['integer', 'null'], description: 'The column, from 1; null where it is not known.' },
};
const inForce = {
  source: text('The file that it was compiled from.'),
  applied_at: time('When the log took it.'),
  compiled_at: time('When it was compiled.'),
  in_force: isSo('Whether it is in force.'),
};

export function configurationSchemas(): Readonly<Record<string, JsonSchema>> {
  const key = text('As the configuration names it.');
  const group = text('The name of the group.');
  const state = text('The name of the state.');
  const effect = { enum: [...toolEffects, null], description: 'What a call changes; null where it is not known.' };
  return {
    ConfigurationList: object('A page of the configurations on the log, the newest first.', {
      configurations: list(ref('ListedConfiguration'), 'The configurations.'),
      next_cursor: textOrNull('The parameter `cursor` of the next page; null on the last one.'),
    }),
    ListedConfiguration: object('A configuration, as a record put it in force.', {
      config_version: text('Its version: the hash of its content.'),
      ...inForce,
      refused: textOrNull('Why services do not follow the record; null where they did.'),
      tools: { type: ['integer', 'null'], description: 'How many tools it has; null where it cannot be read.' },
    }),
    ConfigurationView: object('A configuration, and each rule in words.', {
      config_version: text('Its version: the hash of its content.'),
      ...inForce,
      text: textOrNull('The text of its file as it is now; null where the gateway does not have the file.'),
      text_is_whole: isSo('Whether nothing is hidden in the text, so that it can be applied again.'),
      document: textOrNull('The compiled configuration as JSON text, with `document=true`.'),
      groups: list(ref('DescribedGroup'), 'The groups.'),
      states: list(ref('DescribedState'), 'The states, `undefined` first.'),
      tools: list(ref('DescribedTool'), 'The tools, in the order of the file.'),
      agents: list(ref('DescribedAgent'), 'The tools that are agents.'),
      rules: list(ref('DescribedRule'), 'The rules, in words.'),
      policy: list(text('A sentence.'), 'The policy, in words.'),
    }),
    DescribedGroup: object('A group.', {
      name: group,
      groups: names('The groups directly within it.'),
      tools: names('The keys of the tools that a request for it covers.'),
    }),
    DescribedState: object('A state.', {
      name: state,
      tools,
      transitions: {
        type: 'object',
        additionalProperties: text('The state that it leads to.'),
        description: 'By the key of the tool that leads there.',
      },
      reachable: isSo('Whether a run that begins in `undefined` can come to it.'),
      dead_end: isSo('Whether no tool is available in it.'),
    }),
    DescribedTool: object('A tool.', {
      key,
      id: text('As a model writes it.'),
      title: text('For people.'),
      description: text('What it does.'),
      type: text('Its type.'),
      source: { enum: ['built_in', 'file', 'mcp', 'openapi', 'agent'], description: 'Where it comes from.' },
      source_name: textOrNull('The MCP server or the file.'),
      effect,
      groups: names('Its groups.'),
      available_in_states: names('The states that it is available in; `*` for every state.'),
      state: textOrNull('The state after it succeeds; null for no change.'),
      connection: textOrNull('The connection that its calls use.'),
      allowed: isSo('Whether the policy allows it.'),
      needs_approval: isSo('Whether its calls wait for an approval.'),
      unavailable: textOrNull('Why it cannot be offered now.'),
      rules: names('The rules about it.'),
      bounds: list(ref('ArgumentBound'), 'What its arguments must be; a call that breaks one is refused.'),
    }),
    ArgumentBound: object('What one place of the configuration says of one argument of a tool.', {
      rule: text('The rule; `tool.<key>` for the bounds of an entry, `agents.<agent>` for those of agents.'),
      whom: textOrNull('Which calls it binds, in words; null for all.'),
      argument: text('The path of the argument.'),
      words: list(text('A part of a sentence.'), 'All of it must hold.'),
    }),
    DescribedAgent: object('A tool that is an agent.', {
      key,
      groups: names('The groups that its runs ask for.'),
      state: textOrNull('The state that they begin in.'),
      strategy: text('How they come to their answers.'),
      max_iterations: { type: ['integer', 'null'], description: 'Null: as many as any run.' },
    }),
    DescribedRule: object('A rule, in words.', {
      name: text('The name of the rule.'),
      words: list(text('A sentence.'), 'A sentence for each condition; its tools are available while all hold.'),
      tools: names('The keys of the tools that it is about.'),
    }),
    ConfigurationDifferences: object('What a configuration has otherwise than another one.', {
      config_version: text('The one.'),
      from: textOrNull('The other one; null where there is none before it.'),
      changes: list(ref('ConfigurationChange'), 'What is other.'),
      ...left,
    }),
    ConfigurationChange: object('One thing that is other.', {
      kind: { enum: ['tool', 'agent', 'group', 'state', 'rule', 'policy', 'setting'] },
      name: text('What it is about; of a setting, its path.'),
      change: { enum: ['added', 'removed', 'changed'] },
      part: textOrNull('Of what is changed, the part of it.'),
      before: textOrNull('What was there.'),
      after: textOrNull('What is there.'),
    }),
    GroupStateMatrix: object('Which tools a run would be offered with each group in each state.', {
      config_version: text('The version of the configuration.'),
      groups: list(group, 'The groups.'),
      states: list(state, 'The states.'),
      cells: list(ref('MatrixCell'), 'Those that offer a tool, before rules, with every connection.'),
      ...left,
    }),
    MatrixCell: object('A group in a state.', { group, state, tools: names('The keys of the offered tools.') }),
    FindingList: object('What is legal in a configuration and worth knowing.', {
      config_version: text('The version of the configuration.'),
      findings: list(ref('ConfigurationFinding'), 'The findings that follow from the configuration alone.'),
      ...left,
    }),
    ConfigurationFinding: object('Something legal that an author will want to know.', {
      kind: text('What it is: `dead_end`, `unreachable_tool` and others (docs/configuration.md).'),
      path: text('Where in the file, as `tool.graph-update.group`.'),
      message: text('A sentence.'),
      ...place,
    }),
    CheckedCandidate: object('What a candidate compiles to.', {
      ok: isSo('Whether it has no mistakes.'),
      config_version: textOrNull('The version that it would have; null where it has mistakes.'),
      tools: { type: ['integer', 'null'], description: 'How many tools it has.' },
      problems: list(ref('CandidateProblem'), 'Its mistakes.'),
      findings: list(ref('ConfigurationFinding'), 'What is legal and worth knowing.'),
      ...left,
    }),
    AppliedCandidate: object('What became of a candidate that was to be in force.', {
      config_version: text('Its version, which is in force.'),
      replaced: text('The version that was in force before.'),
      status: { enum: ['applied', 'in_force_already'] },
      source: text('The file in the data folder that its text is kept in.'),
      signed: isSo('Whether the record is signed.'),
      note: textOrNull('What is to be known of it; null for nothing.'),
    }),
    CandidateProblem: object('A mistake in a candidate.', {
      severity: { const: 'error' },
      path: text('Where in the file, as `tool.graph-update.group`; empty for the file as a whole.'),
      ...place,
      found: text('What is there.'),
      write: text('What to write instead.'),
    }),
    Explanation: object('Every tool’s verdict for a caller.', {
      config_version: text('The version of the configuration that decided.'),
      is_candidate: isSo('Whether that is the candidate’s.'),
      state,
      group: list(group, 'The groups that were asked for.'),
      fallback_groups: list(group, 'Groups that stand in for a requested one without an available tool.'),
      permitted: isSo('Whether the caller may ask for these groups.'),
      refused_groups: list(group, 'Those that it may not ask for.'),
      refusal: textOrNull('Why the request would be refused.'),
      tool_choice: textOrNull('What a tool_choice comes to.'),
      tools: list(ref('ExplainedTool'), 'Every tool of the configuration, in its order.'),
      warnings: list(ref('RequestWarning'), 'What is probably a mistake in the request.'),
    }),
    ExplainedTool: object(
      'Whether a tool is offered, and why not.',
      {
        key,
        id: text('As a model writes it.'),
        offered: isSo('Whether it is offered.'),
        needs_approval: isSo('Whether a call of it would wait for an approval.'),
        authorized: {
          type: ['boolean', 'null'],
          description: 'Whether `authorization` lets the caller run it; null where that is not known here.',
        },
        reasons: list(ref('ExplainedReason'), 'Why it is hidden: every reason.'),
      },
      {
        ...open,
        counted: list(
          ref('CountedSpan'),
          'What rules with a span count of its calls, and up to what; `used` is null where the caller, or its session, is not known. Absent where none does.',
        ),
      },
    ),
    ExplainedReason: object('Why a tool is hidden.', {
      code: { enum: hiddenReasons },
      text: text('The same in words.'),
      opens: text('What would open it.'),
      rules: list(ref('ClosingRule'), 'The rules that close it.'),
    }),
    WhatIf: object('Which recorded decisions a candidate would make otherwise.', {
      config_version: text('The version that the candidate would have.'),
      since: time('Decisions at or after this time.'),
      until: time('Decisions before this time.'),
      decisions: list(ref('DifferingDecision'), 'Those that would be others, a row for each tool or call.'),
      left_out: whole('Rows that were counted and are not listed.'),
      considered: whole('Decisions that were made again.'),
      altered: whole('Of these, how many would be others.'),
      not_replayable: whole('Of these, how many cannot be made again from the records.'),
      undecodable: whole('Records that cannot be read.'),
      is_whole: isSo('Whether all decisions of that time were looked at; false where it took too long.'),
      by: described('WhatIfCounts', 'How many of the altered decisions are about what, the most first.'),
    }),
    WhatIfCounts: object('How many decisions would be others, by what they are about; 200 names of each at most.', {
      tool: list(ref('NamedCount'), 'By the key of the tool.'),
      group: list(ref('NamedCount'), 'By the requested group.'),
      user: list(ref('NamedCount'), 'By the actor.'),
      tenant: list(ref('NamedCount'), 'By the tenant.'),
      state: list(ref('NamedCount'), 'By the state.'),
      rule: list(ref('NamedCount'), 'By the rule that refuses a call.'),
    }),
    NamedCount: object('A name and how often.', { name: text('The name.'), count: whole('How often.') }),
    DifferingDecision: object('A decision that would be another.', {
      ...ids,
      iteration: { type: ['integer', 'null'], description: 'From 1.' },
      topic: text('Where the decision stands on the log.'),
      partition: whole('Its partition.'),
      offset: whole('Its offset.'),
      kind: {
        enum: ['tools', 'call', 'state', 'run', 'approval'],
        description: 'Whether a tool is offered, a call made, a state led to, a run ended, a decision counted.',
      },
      tool: textOrNull('The key of the tool.'),
      groups: names('The requested groups.'),
      state,
      user: textOrNull('The actor that asked.'),
      tenant: textOrNull('Its tenant.'),
      before: described('DecidedSo', 'As it was decided.'),
      after: described('DecidedSo', 'As the candidate would decide.'),
      rule: textOrNull('Of a call, the rule that refuses it, under the candidate or else as it was; null for none.'),
      facts: {
        type: 'object',
        additionalProperties: text('What was found out.'),
        description: 'Of a call, what the executor found out to judge it, by name; empty where nothing was asked.',
      },
    }),
    DecidedSo: object('One side of a difference.', {
      verdict: text(
        'Of tools `offered` or `hidden`, of a call `made`, `waits for an approval` or `refused`, of a state its name, of a run `goes on` or `ends`, of an approval `counts` or `does not count`.',
      ),
      reasons: list(ref('DecisionReason'), 'Why.'),
    }),
    DecisionReason: object('Why something is decided so.', {
      code: text('A code (docs/errors.md, docs/lifecycle.md).'),
      text: text('The same in words.'),
    }),
    ClosingRule: object('A rule that closes a tool.', {
      name: text('The name of the rule.'),
      words: list(text('A sentence.'), 'What it asks for.'),
    }),
  };
}
