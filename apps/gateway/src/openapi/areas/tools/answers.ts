import { hiddenReasons, pastScopes, toolEffects, toolErrors } from '@sluice/core';
import { ref } from '../../record-schemas.js';
import {
  text,
  textOrNull,
  whole,
  time,
  list,
  described,
  object,
  version,
  warned,
  isSo,
  open,
  tools,
} from '../../schema-parts.js';
import { callMembers } from '../runs/answers.js';
import type { JsonSchema } from '../../json-schema.js';

const group = {
  name: text('The name of the group.'),
  groups: list(text('A group.'), 'The groups directly within it.'),
  tools: list(ref('GroupTool'), 'The tools that a request for it covers in some state.'),
};

/** Sessions, tools, agents, groups and states. */
export function toolSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    SessionList: object('The caller’s own sessions, the latest first.', {
      sessions: list(ref('Session'), 'The sessions.'),
      next_before: { type: ['integer', 'null'], description: 'The parameter `before` of the next page.' },
    }),
    Session: object('A session.', {
      session_id: text('Names the session.'),
      runs: whole('How many runs it has.'),
      started_at: time('When its first run began.'),
      updated_at: time('When something happened in it last.'),
    }),
    StepList: object('The steps of the caller’s runs in a session.', {
      session_id: text('Names the session.'),
      steps: list(ref('SessionStep'), 'The steps, without their results.'),
    }),
    SessionStep: object('A step of a run.', {
      request_id: text('Names the run.'),
      iteration: whole('From 1.'),
      ...callMembers,
    }),
    AgentList: object('The agents that the caller may ask, the default one first.', {
      ...version,
      agents: list(ref('ListedAgent'), 'The agents.'),
    }),
    ListedAgent: object('An agent that requests can name.', {
      name: text('What `agent` of a request names.'),
      description: textOrNull('What it is for.'),
      groups: {
        ...list(
          text('A group.'),
          'Its groups, as far as the caller may ask for them; null where it has none of its own.',
        ),
        type: ['array', 'null'],
      },
      has_answer_schema: isSo('Whether its answers fit a JSON Schema.'),
      may_cancel: isSo('Whether the caller may cancel runs of it that others began.'),
    }),
    ToolList: object(
      'What a run in this state with these groups is offered.',
      {
        ...version,
        state: text('The state.'),
        group: list(text('A group.'), 'The groups.'),
        fallback_groups: list(text('A group.'), 'Groups that stand in for a requested one without an available tool.'),
        tools: list(ref('OfferedTool'), 'The tools.'),
      },
      warned,
    ),
    TriedToolset: object(
      'What a request would be offered in its first iteration.',
      {
        ...version,
        state: text('The state.'),
        group: list(text('A group.'), 'The groups.'),
        fallback_groups: list(text('A group.'), 'Groups that stand in for a requested one without an available tool.'),
        tool_choice: textOrNull('`none`, `required` or the id of a tool; null where the model chooses freely.'),
        tools: list(ref('OfferedTool'), 'The tools.'),
        hidden_counts: {
          type: 'object',
          propertyNames: { enum: hiddenReasons },
          additionalProperties: whole('How many tools.'),
          description: 'Hidden tools of groups that the caller may ask for, by their first reason.',
        },
      },
      {
        ...warned,
        call: described('TriedCall', 'What the call of the request would come to; absent where it makes none.'),
      },
    ),
    TriedCall: object(
      'What a call would come to. Nothing of it is made, no approval is asked for, and no limit counts it.',
      {
        tool: text('The id of the tool; as the request names it where the caller is shown no such tool.'),
        effect: {
          enum: [...toolEffects, null],
          description: 'What a call of it changes; null where the caller is shown no such tool.',
        },
        offered: isSo('Whether the tool is offered.'),
        outcome: {
          enum: ['runs', 'waits', 'refused'],
          description: '`waits`: for an approval. `runs`: nothing would refuse it before the tool begins.',
        },
        arguments_valid: {
          type: ['boolean', 'null'],
          description: 'Whether the tool takes the arguments; null where the call is refused before they are checked.',
        },
        problems: list(ref('ArgumentProblem'), 'What is wrong with the arguments.'),
        authorized: {
          type: ['boolean', 'null'],
          description:
            'Whether `authorization` lets the caller make it; null where the call is refused before, or where another service decides at the call.',
        },
        needs_approval: {
          type: ['boolean', 'null'],
          description: 'Whether it would wait for an approval; null for a tool that is not offered.',
        },
        code: { enum: [...Object.keys(toolErrors), null], description: 'The code that it would be refused with.' },
        reason: textOrNull('The reason of the refusal, where it has one.'),
        rule: textOrNull('The rule of the configuration that refuses it; null where none does.'),
        message: textOrNull('Why it would be refused; null where it would not.'),
        lists: list(
          text('The name of a list.'),
          'Lists with `lookup` that decide at the call; here they count as letting it through.',
        ),
        counted: list(
          ref('CountedSpan'),
          'What rules with a span count of the tool’s calls before this one, and up to what; for a tool that the caller is shown.',
        ),
      },
      { approvers: list(text('A principal.'), 'Who may approve it; for approvers and operators alone.') },
    ),
    CountedSpan: object('What calls of a rule’s tools may add up to within a sliding span.', {
      rule: text('The name of the rule.'),
      per: { enum: [...pastScopes], description: 'Whose calls are counted together.' },
      within: text('The span, such as `1d`.'),
      argument: textOrNull('The path of the argument whose numbers are summed; null where calls are counted.'),
      used: textOrNull(
        'How much was used before the call, as a decimal number; null where others of the tenant are counted too and the caller is no operator.',
      ),
      limit: text('How much may be used, as a decimal number.'),
    }),
    ArgumentProblem: object('Something wrong with the arguments of a call.', {
      path: text('A JSON pointer to it; empty for the whole.'),
      message: text('What is wrong.'),
    }),
    OfferedTool: object(
      'A tool that a run is offered.',
      {
        id: text('As a model writes it.'),
        key: text('As the configuration names it.'),
        description: text('What it does.'),
        effect: { enum: [...toolEffects], description: 'What a call of it changes.' },
        groups: list(text('A group.'), 'Those of its groups that the caller may ask for.'),
        schema_hash: text('A hash over the canonical input schema, which changes when the schema does.'),
        input_schema: { type: ['object', 'boolean'], description: 'The JSON Schema of its arguments.' },
      },
      open,
    ),
    Specification: object('What a tool takes.', {
      ...version,
      schema_hash: text('The hash that was asked for.'),
      input_schema: { type: ['object', 'boolean'], description: 'The JSON Schema of the arguments.' },
      tools: list(ref('OfferedTool'), 'The tools that have this schema, of groups that the caller may ask for.'),
    }),
    GroupList: object('The groups that the caller may ask for.', {
      ...version,
      groups: list(ref('ListedGroup'), 'The groups.'),
    }),
    RecommendationList: object('The groups that suit a question, best first.', {
      ...version,
      groups: list(ref('RecommendedGroup'), 'The groups, ten at most.'),
      note: textOrNull('Why there is no group, and how to ask; null where there is one.'),
    }),
    RecommendedGroup: object('A group that suits a question.', {
      name: text('The name of the group.'),
      score: { type: 'number', description: 'How well it suits.' },
      tools: list(ref('RecommendedTool'), 'The tools that it is recommended for, best first, five at most.'),
    }),
    RecommendedTool: object('A tool that a group is recommended for.', {
      key: text('As the configuration names it.'),
      score: { type: 'number', description: 'How well it suits.' },
      words: list(text('A word.'), 'The words of the question that it holds.'),
      called: { type: 'number', description: 'How much runs of the tenant called it of late, from 0 to 1.' },
    }),
    ListedGroup: object('A group, and its tools.', group),
    Group: object('A group, and its tools.', { ...version, ...group }),
    GroupTool: object(
      'A tool of a group.',
      {
        key: text('As the configuration names it.'),
        id: text('As a model writes it.'),
        description: text('What it does.'),
        effect: {
          enum: [...toolEffects, null],
          description: 'What a call of it changes; null where that is not known.',
        },
        groups: list(text('A group.'), 'The groups that it is in.'),
        available_in_states: list(text('A state.'), 'The states that it is available in; `*` for every state.'),
        state: textOrNull('The state after it succeeds; null for no change.'),
      },
      open,
    ),
    StateList: object('The states of the caller’s tools.', {
      ...version,
      states: list(ref('ListedState'), 'The states.'),
    }),
    ListedState: object('A state, its tools, and where they lead.', {
      name: text('The name of the state.'),
      tools,
      transitions: {
        type: 'object',
        additionalProperties: text('The state that it leads to.'),
        description: 'By the key of the tool that leads there.',
      },
    }),
  };
}
