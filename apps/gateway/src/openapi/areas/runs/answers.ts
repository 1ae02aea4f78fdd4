import { hiddenReasons, toolEffects } from '@sluice/core';
import { ref, schemasOfRecord } from '../../record-schemas.js';
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
  ids,
  version,
  warned,
} from '../../schema-parts.js';
import type { JsonSchema } from '../../json-schema.js';

export const callMembers = {
  id: text('The id of the call.'),
  tool: text('The key of the tool.'),
  arguments: text('As the record has them: JSON.'),
  ok: { type: ['boolean', 'null'], description: 'Null while there is no result.' },
  error: textOrNull('The code of a tool error.'),
  reason: textOrNull('The reason of a tool error.'),
  state: textOrNull('The state behind the call.'),
  started_at: timeOrNull('When the call began.'),
  duration_ms: { type: ['integer', 'null'], description: 'How long it took.' },
};

const outcome = {
  kind: text('`answer` or `error`.'),
  answer: textOrNull('The answer, of a run that has one.'),
  structured: textOrNull(
    'The answer as JSON text that fits the answer schema; null where there is none, and for an error.',
  ),
  error: { anyOf: [ref('RunError'), { type: 'null' }], description: 'Why the run has no answer.' },
  incomplete: {
    anyOf: [ref('IncompleteAnswer'), { type: 'null' }],
    description: 'Why the answer is not a whole one; null where it is, and where there is none.',
  },
  confidence: {
    type: ['number', 'null'],
    description: 'How sure the answer can be, from 0 to 1 (docs/strategies.md); null where nothing was measured.',
  },
  partial: textOrNull('Why the answer is one by what there is: plans of the run failed. Null for any other answer.'),
};
const signature = {
  enum: ['verified', 'before_keys'],
  description:
    'Whether the service that ended the run signed this; `before_keys`: it is older than the keys, or than signed ends.',
};
/** Of a run that began. */
const inside = {
  state: text('The state that the run ended in.'),
  iterations: whole('How many iterations it had.'),
  history: list(ref('AgentStep'), 'The steps, those that the request brought along included.'),
  ...version,
  ended_at: time('When it ended.'),
};
const progress = {
  tool_calls: list(ref('ToolCall'), 'The calls of the run, in order.'),
  tokens: ref('Tokens'),
};

const waits = { waiting: ref('Waiting') };

/** A run, ended or not. */
export function runSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    ...schemasOfRecord('AgentStep', 'answer'),
    ...schemasOfRecord('RunError', 'answer'),
    ...schemasOfRecord('IncompleteAnswer', 'answer'),
    CancellationRequested: object('A cancellation that was accepted.', {
      request_id: text('Names the run.'),
      status: { enum: ['cancelling', 'ended'], description: '`ended`: it had ended before.' },
    }),
    RunningRun: object(
      'A run that has not ended, with its calls and tokens so far.',
      { ...ids, status: { const: 'running' }, since: time('No record of the run is older.'), ...progress },
      { ...waits, ...warned },
    ),
    EndedRun: object(
      'How a run ended; of a request that never began, only why.',
      { ...ids, status: { const: 'ended' }, ...outcome },
      { signature, ...inside, ...progress, ...warned },
    ),
  };
}

/** Runs in a list, and their calls. */
export function runListSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    RequestWarning: object('A group or a state of a request that the configuration does not know.', {
      code: { enum: ['unknown_group', 'unknown_state'] },
      name: text('The name, as the request has it.'),
      suggestion: textOrNull('The name that was probably meant.'),
      message: text('A sentence that says what to change.'),
    }),
    ToolCall: object('A call of a run.', callMembers),
    Tokens: object('What the model read and wrote.', {
      input: whole('Tokens read.'),
      output: whole('Tokens written.'),
      cached: whole('Of those read, how many the provider had in a cache.'),
    }),
    RunList: object('A page of runs, the newest first.', {
      runs: list(ref('ListedRun'), 'The runs.'),
      next_cursor: textOrNull('The parameter `cursor` of the next page; null on the last one.'),
    }),
    ListedRun: object(
      'A run of the tenant.',
      {
        ...ids,
        user: text('The actor that asked.'),
        on_behalf_of: textOrNull('The subject that the actor asked for.'),
        agent: textOrNull(
          'The agent that its request asks; null where it makes a call itself, or before its first turn.',
        ),
        parent: textOrNull(
          'The run whose call this one answers, of an agent’s run; null for a run that a caller requested.',
        ),
        question: textOrNull('What was asked, 2,000 characters at most; null for a run of another caller.'),
        status: { enum: ['running', 'ended'] },
        outcome: textOrNull('`answer`, or the code of an error; null while it runs.'),
        state: text('The state that it is in, or ended in.'),
        iterations: whole('How many iterations it had.'),
        model: textOrNull('The model that its last turn names; null before the first.'),
        tokens: ref('Tokens'),
        usd: numberOrNull('What it cost, in US dollars; null where no price is configured.'),
        started_at: time('When it began.'),
        ended_at: timeOrNull('When it ended.'),
        duration_ms: countOrNull('How long it took; null while it runs.'),
        href: textOrNull('Where the run is to be read; null for a run of another caller.'),
      },
      waits,
    ),
  };
}

export function verdictSchemas(): Readonly<Record<string, JsonSchema>> {
  const used = (description: string): JsonSchema => ({ anyOf: [ref('BudgetUse'), { type: 'null' }], description });
  return {
    ContentList: object('The content that the records of a run name.', {
      request_id: text('Names the run.'),
      content: list(ref('ListedContent'), 'That of the question first, then by the steps that name it.'),
    }),
    ListedContent: object('A piece of content of a run.', {
      hash: text('Names it.'),
      type: text('Its media type.'),
      size: whole('Bytes.'),
      kind: text('As the record has it: `image`, `audio`, `file`, `resource`, `result` or `value`.'),
      name: textOrNull('The name of a file, or the address of a resource.'),
      iteration: countOrNull('Whose step names it; null where the question does.'),
      tool: textOrNull('The key of the tool that gave it; null where the question names it.'),
      is_kept: { type: 'boolean', description: 'Whether it can still be read.' },
      written_at: timeOrNull('When it was written last; null where it is not kept.'),
      expires_at: timeOrNull('When it goes; null where it is kept for ever, or not kept.'),
    }),
    Upload: object('An image or a file that was uploaded.', {
      content: described('StepContent', 'Its name, as `content` of a request takes it.'),
      expires_at: time('When no request can name it any more.'),
    }),
    VerdictList: object('The iterations of a run, with the verdict on every tool that the caller may know of.', {
      request_id: text('Names the run.'),
      iterations: list(ref('IterationVerdicts'), 'The iterations, in order.'),
    }),
    IterationVerdicts: object('What was decided for an iteration.', {
      iteration: whole('From 1.'),
      decided_at: time('When it was decided.'),
      state: text('The state decided on.'),
      group: list(text('A group.'), 'The groups decided on.'),
      fallback_groups: list(text('A group.'), 'Groups that stand in for a requested one without an available tool.'),
      unknown_groups: list(text('A group.'), 'Requested groups that the configuration does not know.'),
      ...version,
      tool_choice: textOrNull('`none`, `required` or the id of a tool; null where the model chooses freely.'),
      deadline: time('When the run must have ended.'),
      max_iterations: whole('The last iteration allowed.'),
      budgets: {
        anyOf: [ref('Budgets'), { type: 'null' }],
        description: 'What the run had used before the iteration; null where the configuration of then is gone.',
      },
      offered_count: countOrNull('How many tools were offered; null where the configuration of then is gone.'),
      hidden_count: countOrNull('How many tools were hidden that the caller may know of.'),
      same_as: countOrNull('The earlier iteration whose tools and reasons are the same; then `tools` is null.'),
      tools: {
        type: ['array', 'null'],
        items: ref('ToolVerdict'),
        description: 'The tools, in the order of the configuration, 5,000 in an answer at most.',
      },
      left_out: whole('How many more tools there are.'),
    }),
    Budgets: object('What a run had used of what it may use; null where there is no limit.', {
      calls: used('Calls of all tools together.'),
      tokens: used('Tokens read and written together.'),
      micro_usd: used('Millionths of a US dollar.'),
      tools: list(ref('ToolBudget'), 'Calls of tools that have a limit of their own.'),
    }),
    BudgetUse: object('How much was used.', { used: whole('So much.'), limit: whole('Of so much.') }),
    ToolBudget: object('Calls of one tool in the run.', {
      tool: text('The key of the tool.'),
      used: whole('So many.'),
      limit: whole('Of so many.'),
    }),
    ToolVerdict: object('A tool, and whether the iteration was offered it.', {
      key: text('As the configuration names it.'),
      id: text('As a model writes it.'),
      title: text('Its name for people.'),
      description: text('What it does, 300 characters at most.'),
      effect: { enum: [...toolEffects, null], description: 'What a call of it changes; null where that is not known.' },
      groups: list(text('A group.'), 'Those of its groups that the caller may ask for.'),
      offered: { type: 'boolean', description: 'Whether it was offered.' },
      reasons: list(ref('HiddenBecause'), 'Why it was hidden; nothing where it was offered.'),
    }),
    HiddenBecause: object('A reason why a tool was hidden.', {
      code: { enum: hiddenReasons, description: 'For programs.' },
      text: text('The reason in words.'),
      opens: text('What has to be so that it holds no longer.'),
    }),
  };
}

export function waitingSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    Waiting: object('That the run’s model could not be had and is asked again; absent where it is not so.', {
      iteration: whole('The turn, from 1.'),
      since: time('When it was first so.'),
      reason: text('Why, as of then.'),
    }),
  };
}
