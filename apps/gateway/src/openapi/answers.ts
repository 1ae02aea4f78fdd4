import { findingKinds } from '@sluice/audit';
import { listedKinds, usageDimensions } from '@sluice/projection';
import { hiddenReasons, rejectionReasons, ruleFactNames, toolEffects, toolErrors } from '@sluice/core';
import { recordSchema } from '@sluice/contracts';
import { propertiesOf, ref, schemasOfRecord } from './record-schemas.js';
import type { JsonSchema } from './json-schema.js';

const text = (description: string): JsonSchema => ({ type: 'string', description });
const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description });
const whole = (description: string): JsonSchema => ({ type: 'integer', description });
const time = (description: string): JsonSchema => whole(`${description} Milliseconds since the epoch.`);
const timeOrNull = (description: string): JsonSchema => ({
  ...time(description),
  type: ['integer', 'null'],
});
const countOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], description });
const numberOrNull = (description: string): JsonSchema => ({ type: ['number', 'null'], description });
const list = (items: JsonSchema, description: string): JsonSchema => ({ type: 'array', items, description });
const described = (name: string, description: string): JsonSchema => ({ ...ref(name), description });

/** An object with all these members; those of `some` may be missing. */
function object(
  description: string,
  all: Readonly<Record<string, JsonSchema>>,
  some: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return { type: 'object', description, properties: { ...all, ...some }, required: Object.keys(all) };
}

const ids = { request_id: text('Names the run.'), session_id: text('The session of the run.') };
const version = { config_version: text('The version of the configuration that decided.') };
const tools = list(text('The key of a tool.'), 'The tools that are available in it.');

const open = {
  depends_on: list(
    { enum: [...ruleFactNames], description: 'A fact that a run has.' },
    'What rules about it ask for and only a run has; absent where all of it is known.',
  ),
};

const callMembers = {
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

const warned = { warnings: list(ref('RequestWarning'), 'Absent where there is nothing to warn of.') };

const group = {
  name: text('The name of the group.'),
  groups: list(text('A group.'), 'The groups directly within it.'),
  tools: list(ref('GroupTool'), 'The tools that a request for it covers in some state.'),
};

/** What the gateway answers with; a test holds real answers against these. */
export function answerSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    ...schemasOfRecord('AgentStep', 'answer'),
    ...schemasOfRecord('RunError', 'answer'),
    ...schemasOfRecord('IncompleteAnswer', 'answer'),
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
    AuditVerification: object('What a verification of the audit found.', {
      ok: { type: 'boolean', description: 'Whether there is an audit, and nothing was found.' },
      found: whole('Findings in all; the list has the first thousand.'),
      chains: list(ref('AuditChain'), 'The chains.'),
      findings: list(ref('AuditFinding'), 'What is not as the audit wrote it.'),
      sources: object('The records that the entries are about.', {
        compared: whole('Compared with their entries.'),
        gone: whole('No longer on the log.'),
        waiting: whole('Without an entry yet.'),
        not_compared: textOrNull('Why they were not compared to the end; null if they were.'),
      }),
    }),
    AuditChain: object('A chain of the audit.', {
      chain: text('Its name: a topic and a partition.'),
      entries: whole('Its entries.'),
      sequence: whole('The number of the last entry.'),
      head: text('The hash of the last entry.'),
      sealed: whole('Entries up to this number are under a genuine checkpoint.'),
      checkpoints: whole('Its checkpoints.'),
      beyond_last_checkpoint: whole('Entries that no checkpoint covers yet.'),
      waiting: whole('Records that have no entry yet.'),
      waiting_since: textOrNull('Since when the oldest of them is there, as ISO 8601.'),
    }),
    AuditFinding: object('Something that is not as the audit wrote it.', {
      kind: { enum: Object.keys(findingKinds), description: 'What it is.' },
      message: text('The same in a sentence.'),
      what: text('What is known beyond the kind; may be empty.'),
      chain: text('The chain.'),
      entries: {
        type: ['object', 'null'],
        description: 'The `first` and the `last` entry that it is about; null where none is meant.',
      },
      place: {
        type: ['object', 'null'],
        description: 'The `partition` and the `offset` on agent.audit; null where no record is left.',
      },
      source_offset: { type: ['integer', 'null'], description: 'The offset of the source record.' },
      runs: list({ type: 'object' }, 'Runs that it is about: `request_id`, `session_id`, `tenant`. The first twenty.'),
      differences: list(
        { type: 'object' },
        'What was written and what stands there: `entry`, `field`, `was`, `is`. The first twenty.',
      ),
    }),
    Attestation: object('A signed report on tool calls (docs/attestation.md).', {
      type: { const: 'sluice-attestation' },
      version: { const: 1 },
      from: timeOrNull('The begin of the span.'),
      to: timeOrNull('Its end, which is not included.'),
      session: textOrNull('The session whose calls are shown.'),
      signer: text('Who signs.'),
      chains: list({ type: 'object' }, 'The calls, each with a proof that leads to a checkpoint.'),
      signature: text('Over all of it.'),
      quote: { type: ['object', 'null'], description: 'A quote by hardware or software; null for none.' },
    }),
    Me: object('The caller.', {
      tenant: text('The tenant.'),
      user: text('The actor, as `user:<id>` or `service:<name>`.'),
      on_behalf_of: textOrNull('The subject that the actor asks for.'),
      identity: text('How callers are known: `none`, `jwt` or `api-keys`.'),
      groups: list(text('A group.'), 'The groups that the caller may ask for; `*` is all.'),
      connections: list(text('A connection.'), 'The connections that it may use.'),
      is_operator: { type: 'boolean', description: 'Whether it sees what is of all tenants.' },
      is_approver: { type: 'boolean', description: 'Whether policy names it an approver.' },
      is_auditor: { type: 'boolean', description: 'Whether it may verify and export the audit.' },
      expires_at: timeOrNull('When its credential ends; null where it does not.'),
    }),
    ConsoleAbout: object('What a page has to know before it knows a caller.', {
      version: text('The version of this program.'),
      identity: text('How callers are known: `none`, `jwt` or `api-keys`.'),
      sign_in: list(
        { enum: ['local', 'oidc', 'token', 'api_key'] },
        'How one signs in, the best way first: by a one-time link, at the issuer, or with a pasted JWT, local secret or API key.',
      ),
      oidc: {
        anyOf: [ref('ConsoleClient'), { type: 'null' }],
        description: 'The client to sign in with at the issuer; null where there is none.',
      },
      bus: { enum: ['embedded', 'kafka'], description: 'Where the log is.' },
      docs: text('Where the description of the routes is.'),
    }),
    ConsoleClient: object('The console as a public client of the issuer.', {
      issuer: text('The address of the issuer.'),
      client_id: text('The id of the client.'),
      scopes: list(text('A scope.'), 'The scopes to ask for.'),
      resource: textOrNull('For whom the access token is to be (RFC 8707); null where that is not to be asked for.'),
    }),
    SignedIn: object('What a page holds that signed in.', {
      token: text('Stands for the local secret, as a bearer token.'),
      expires_at: time('When the token ends.'),
      session: textOrNull('To renew the token with; null for a page that gave no key.'),
      session_expires_at: timeOrNull('When the session ends.'),
    }),
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
    ...verdictSchemas(),
    ...usageSchemas(),
    ...statusSchemas(),
    ...serverSchemas(),
    Waiting: object('That the run’s model could not be had and is asked again; absent where it is not so.', {
      iteration: whole('The turn, from 1.'),
      since: time('When it was first so.'),
      reason: text('Why, as of then.'),
    }),
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
        message: textOrNull('Why it would be refused; null where it would not.'),
      },
      { approvers: list(text('A principal.'), 'Who may approve it; for approvers and operators alone.') },
    ),
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
    ApprovalList: object('A page of the calls that wait for the caller’s decision, the oldest first.', {
      approvals: list(ref('WaitingApproval'), 'The calls.'),
      next_cursor: textOrNull('The parameter `cursor` of the next page; null on the last one.'),
    }),
    WaitingApproval: object('A call that waits.', {
      approval: described('AskedApproval', 'With `decision` added it is the body of the decision.'),
      decisions: list(
        { enum: ['approve', 'refuse'] },
        'What the caller may decide; who asked for the call may be left with refusing it.',
      ),
      tool: described('WaitingTool', 'What is to be called.'),
      question: textOrNull('The first 500 characters of what the run was asked; null while the run is not listed.'),
    }),
    WaitingTool: object('The tool of a call that waits.', {
      key: text('As the configuration names it; its id where no configuration has it any more.'),
      title: textOrNull('Its name for people; null where no configuration has it any more.'),
    }),
    DecidedApprovalList: object('A page of decisions, the newest first.', {
      decisions: list(ref('DecidedApproval'), 'The decisions.'),
      next_cursor: textOrNull('The parameter `cursor` of the next page; null on the last one.'),
    }),
    DecidedApproval: object('A decision that counted, or an approval whose time ran out.', {
      approval_id: text('Names the approval.'),
      ...ids,
      tool: textOrNull('The id of the tool; null, as what follows, where the request is no longer listed.'),
      effect: textOrNull('What running the tool can change.'),
      arguments: textOrNull('The arguments as JSON, without what their schema calls secret; cut where they are long.'),
      arguments_hash: text('SHA-256 over the arguments: what was decided on.'),
      requested_by: textOrNull('Who asked.'),
      on_behalf_of: textOrNull('Whom the asker acts for.'),
      requested_at: timeOrNull('When it was asked.'),
      decision: text('`approve`, `refuse`, or `expire` where time ran out.'),
      decided_by: text('Who decided; the executor where time ran out.'),
      reason: text('Why.'),
      decided_at: time('When it was taken.'),
      config_version: textOrNull('The configuration by whose policy it counted.'),
      verified: {
        type: 'boolean',
        description:
          'Whether the ledger has this decision; false for one of more than a week ago, which it has no more.',
      },
    }),
    AskedApproval: object(recordSchema('ApprovalRequested').doc ?? '', {
      ...propertiesOf(
        recordSchema('ApprovalRequested').fields.filter(({ name }) => name !== 'steps'),
        'answer',
        'ApprovalRequested',
      ),
      requested_partition: whole('Where it stands on agent.approvals.'),
      requested_offset: whole('Its offset there.'),
    }),
    Approval: object('A call that was asked about, as who may decide on it sees it (docs/approvals.md).', {
      approval: described('AskedApproval', 'With `decision` added it is the body of the decision.'),
      decisions: list(
        { enum: ['approve', 'refuse'] },
        'What the caller may decide now; nothing where it is decided or too late.',
      ),
      question: textOrNull('What the run was asked; null where its turn is no longer on the log.'),
      tool: described('ApprovedTool', 'What is to be called.'),
      arguments: { description: 'The arguments as JSON, without what their schema calls secret.' },
      asked_because: {
        anyOf: [ref('ApprovalRule'), { type: 'null' }],
        description: 'What asks for the approval; null where the configuration of then is gone.',
      },
      holds: { const: 'once', description: 'A decision is for this call and these arguments alone, once.' },
      approvers: list(text('A principal.'), 'Who may decide, as policy.approval says; `*` is everybody.'),
      requester_may_not_approve: { type: 'boolean', description: 'Whether who asked may refuse the call only.' },
      steps_before: list(ref('ApprovedStep'), 'What the run did before, the latest 50 steps.'),
      decision: {
        anyOf: [ref('TakenDecision'), { type: 'null' }],
        description: 'The decision that counts; null while there is none.',
      },
      decided_at: timeOrNull('When it was taken.'),
      call: {
        anyOf: [ref('ApprovedStep'), { type: 'null' }],
        description: 'The outcome of the call; null while there is no result.',
      },
      run_ended: textOrNull('How the run ended, where it did without a result of the call: `answer`, or an error.'),
    }),
    ApprovedTool: object('The tool of a call that was asked about.', {
      key: text('As the configuration names it.'),
      description: textOrNull('What it does; null where the configuration of then is gone.'),
      input_schema: {
        type: ['object', 'null'],
        description: 'The JSON Schema of its arguments; null where the configuration of then is gone.',
      },
    }),
    ApprovalRule: object('What asks for an approval.', {
      rule: { enum: ['effect', 'plan'], description: 'The tool’s effect, or that plans are approved.' },
      message: text('The same in a sentence.'),
    }),
    ApprovedStep: object('A step of the run of a call that was asked about.', {
      iteration: whole('From 1; 0 for a step that the request brought along.'),
      tool: text('The key of the tool.'),
      outcome: text('`ok`, or the error.'),
      reason: textOrNull('The finer reason of an error.'),
      arguments: textOrNull('The arguments as JSON text; null where the caller may not call the tool itself.'),
      result: textOrNull(
        'The first 1,000 characters of the result; null where the caller may not call the tool itself.',
      ),
    }),
    PublishedDecision: object('The decision is on the log.', {
      approval_id: text('Names the approval.'),
      status: { enum: ['published', 'taken'], description: '`taken`: it counts, and the run goes on.' },
      outcome: {
        anyOf: [ref('TakenDecision'), { type: 'null' }],
        description: 'What was taken; null while no executor has.',
      },
    }),
    TakenDecision: object('The decision that counts.', {
      decision: text('`approve`, `refuse`, or `expire` where time ran out.'),
      decided_by: text('Who decided.'),
      reason: text('Why.'),
    }),
    ...auditSchemas(),
    ...letterSchemas(),
    ...configurationSchemas(),
    Problem: object(
      'Why the request got nothing (RFC 9457).',
      {
        type: text('Where the code is explained: a reference from the gateway’s address.'),
        title: text('What the code means.'),
        status: whole('The status of the answer.'),
        detail: text('A sentence that says what to change.'),
        code: text('A code for programs (docs/errors.md).'),
        error: described('ProblemError', 'Code and sentence once more.'),
      },
      {
        not_taken: {
          enum: Object.keys(rejectionReasons),
          description: 'Why a decision does not count, with the code `decision_not_taken`.',
        },
        problems: list(
          ref('CandidateProblem'),
          'What is wrong with a candidate, with the code `invalid_configuration`.',
        ),
      },
    ),
    ProblemError: object('A code for programs and a sentence for people.', {
      code: text('A code (docs/errors.md).'),
      message: text('A sentence that says what to change.'),
    }),
  };
}

function verdictSchemas(): Readonly<Record<string, JsonSchema>> {
  const used = (description: string): JsonSchema => ({ anyOf: [ref('BudgetUse'), { type: 'null' }], description });
  return {
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

function serverSchemas(): Readonly<Record<string, JsonSchema>> {
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

function statusSchemas(): Readonly<Record<string, JsonSchema>> {
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

function usageSchemas(): Readonly<Record<string, JsonSchema>> {
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

function auditSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    AuditList: object('A page of the audit of the tenant, the newest first.', {
      entries: list(ref('AuditEntry'), 'The entries.'),
      next_cursor: textOrNull('The parameter `cursor` of the next page; null on the last one.'),
    }),
    AuditEntry: object('An entry of the audit.', {
      at: time('When the log took the record that it is about.'),
      kind: { enum: [...listedKinds], description: 'What it is about (docs/audit.md).' },
      user: textOrNull('The actor.'),
      on_behalf_of: textOrNull('The subject that the actor asked for.'),
      request_id: textOrNull('The run.'),
      session_id: textOrNull('The session of the run.'),
      tool: textOrNull('The key of the tool.'),
      outcome: textOrNull('Of a call, a run or an approval.'),
      authentic: {
        type: ['boolean', 'null'],
        description: 'False where another than its service wrote the record; null where the entry does not say.',
      },
      config_version: textOrNull('The version of the configuration that decided.'),
      chain: text('The chain of the audit, which is the topic and partition of the record.'),
      sequence: whole('The place in the chain.'),
      source_offset: whole('The offset of the record.'),
      hash: text('The hash of the entry.'),
      details: {
        type: ['object', 'null'],
        description: 'What docs/audit.md lists for the kind; null for entries of other callers.',
      },
    }),
  };
}

function letterSchemas(): Readonly<Record<string, JsonSchema>> {
  const redriven = {
    anyOf: [ref('Redrive'), { type: 'null' }],
    description: 'Who re-drove it and when; null if it was not.',
  };
  const same = {
    id: text('Names the dead letter.'),
    topic: text('The topic that the record was on.'),
    partition: whole('Its partition there.'),
    offset: whole('Its offset there.'),
    service: text('The service that could not handle it.'),
    session_id: textOrNull('The session of the record.'),
    code: text('A fault code (docs/errors.md).'),
    reason: text('Why, in a sentence.'),
    attempts: whole('How often it was tried.'),
    appended_at: time('When the log took the record.'),
    failed_at: time('When it was dead-lettered.'),
    redriven,
  };
  return {
    DeadLetterList: object('A page of dead letters, the newest first.', {
      dead_letters: list(ref('ListedDeadLetter'), 'The dead letters.'),
      next_cursor: textOrNull('The parameter `cursor` of the next page; null on the last one.'),
    }),
    ListedDeadLetter: object('A record that could not be processed.', same),
    DeadLetter: object('A record that could not be processed, with what it holds.', {
      ...same,
      headers: { type: 'object', additionalProperties: text('A value.'), description: 'Without the credential.' },
      record: { type: ['object', 'null'], description: 'The record; null where its bytes cannot be read.' },
      unreadable: textOrNull('Why its bytes cannot be read.'),
      redrive: described('RedrivePlan', 'What a redrive would do.'),
    }),
    Redrive: object('A redrive.', { by: text('Who made it.'), at: time('When.') }),
    RedrivePlan: object('What a redrive would do.', {
      possible: { type: 'boolean', description: 'Whether it would do something.' },
      topic: textOrNull('The topic that it would write to.'),
      meaning: text('What happens then, or why nothing can.'),
    }),
    Redriven: object('The record is on the log again.', {
      id: text('Names the dead letter.'),
      status: { const: 'redriven' },
      topic: text('The topic that it is on.'),
      meaning: text('What happens now.'),
    }),
  };
}

const names = (description: string): JsonSchema => list(text('A name.'), description);
const isSo = (description: string): JsonSchema => ({ type: 'boolean', description });
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

function configurationSchemas(): Readonly<Record<string, JsonSchema>> {
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
      source: { enum: ['built_in', 'file', 'mcp', 'agent'], description: 'Where it comes from.' },
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
      kind: { enum: ['tool', 'group', 'state', 'rule', 'policy', 'setting'] },
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
      open,
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
