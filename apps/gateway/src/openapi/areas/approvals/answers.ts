import { recordSchema } from '@sluice/contracts';
import { propertiesOf, ref, schemasOfRecord } from '../../record-schemas.js';
import { standingSchemas } from './standing.js';
import { text, textOrNull, whole, time, timeOrNull, list, described, object, ids } from '../../schema-parts.js';
import type { JsonSchema } from '../../json-schema.js';

/** Calls that wait for a decision, and what was decided. */
export function approvalSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
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
      progress: described('ApprovalProgress', 'What asks for the approval, and what the call waits for still.'),
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
      decision: text(
        '`approve`, `refuse`, `expire` where time ran out, or `run` where the rules let the call run then.',
      ),
      decided_by: text('Who decided; the executor where time ran out.'),
      decided_through: textOrNull('The service that decided for this person; null where it decided itself.'),
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
        recordSchema('ApprovalRequested').fields.filter(({ name }) => name !== 'steps' && name !== 'question'),
        'answer',
        'ApprovalRequested',
      ),
      requested_partition: whole('Where it stands on agent.approvals.'),
      requested_offset: whole('Its offset there.'),
    }),
    ...schemasOfRecord('AskingRule', 'answer'),
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
      approvers: list(text('A principal.'), 'Who may decide now, as policy.approval says; `*` is everybody.'),
      progress: described('ApprovalProgress', 'What asks for the approval, and what the call waits for still.'),
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
    ApprovalProgress: object('How far the approval of a call has come.', {
      rules: list(
        ref('AskingRuleState'),
        'The rules that ask, each of which has to have its approvers; empty where one approval of an approver of policy.approval is enough.',
      ),
      approved_by: list(ref('GivenApproval'), 'Who has approved the call so far, where it needs several.'),
      still_needed: whole('Approvals that the call waits for still.'),
      on_expiry: {
        enum: ['refuse', 'run'],
        description: 'What happens to the call where no decision comes in time.',
      },
    }),
    AskingRuleState: object('A rule that asks for an approval of a call.', {
      rule: {
        enum: ['rule', 'effect', 'plan'],
        description: 'A rule of policy.approval, or as `asked_because` has it.',
      },
      name: text('The name of the rule; empty for the others.'),
      message: text('Why it asks, in a sentence.'),
      quorum: whole('How many approvers have to approve the call.'),
      given: whole('How many have.'),
      needed: whole('How many are missing.'),
      approvers: list(text('An entry of the list.'), 'Who may decide now, as policy.approval in force says.'),
      escalates_at: timeOrNull('When others may decide too; null for never.'),
      escalate_to: list(text('An entry of the list.'), 'The others.'),
      escalated: { type: 'boolean', description: 'Whether the others may decide already.' },
      on_expiry: { enum: ['refuse', 'run'], description: 'What it says of a call without a decision in time.' },
    }),
    GivenApproval: object('An approval of a call that needs several.', {
      by: text('Who approved.'),
      at: time('When the log took it.'),
      rules: list(text('A name.'), 'The rules that it counts for.'),
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
      rule: {
        enum: ['rule', 'effect', 'plan'],
        description: 'A rule of policy.approval, the tool’s effect, or that plans are approved.',
      },
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
      rule: textOrNull('The rule that refused it; null where none did.'),
      edited_arguments: textOrNull(
        'What an approver changed the arguments to, as JSON text; null where none did, and where the caller may not call the tool itself.',
      ),
      edited_by: textOrNull('The approver who changed them.'),
    }),
    PublishedDecision: object('The decision is on the log.', {
      approval_id: text('Names the approval.'),
      status: {
        enum: ['published', 'taken'],
        description: '`taken`: it counts, and the run goes on unless further approvals are needed.',
      },
      outcome: {
        anyOf: [ref('TakenDecision'), { type: 'null' }],
        description: 'What was taken; null while no executor has.',
      },
    }),
    PublishedDecisions: object('The result of each decision, in their order.', {
      decisions: list(ref('DecisionAnswer'), 'The decisions.'),
    }),
    DecisionAnswer: object('A decision of several.', {
      approval_id: text('Names the approval.'),
      status: {
        enum: ['published', 'taken', 'refused'],
        description: '`published`: it is on the log; `taken`: it was taken before; `refused`: it cannot count.',
      },
      outcome: {
        anyOf: [ref('TakenDecision'), { type: 'null' }],
        description: 'What was taken before; null otherwise.',
      },
      not_taken: textOrNull('Why it cannot count, one of the reasons in docs/approvals.md; null where it may.'),
      message: textOrNull('The same in a sentence.'),
    }),
    TakenDecision: object('The decision that counts.', {
      decision: text(
        '`approve`, `refuse`, `expire` where time ran out, or `run` where the rules let the call run then.',
      ),
      decided_by: text('Who decided.'),
      reason: text('Why.'),
      still_needed: whole('How many approvals the call waits for behind this one.'),
    }),
    ...standingSchemas(),
  };
}
