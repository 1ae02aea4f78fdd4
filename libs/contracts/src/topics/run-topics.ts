import { agentBegunBy } from '@sluice/core';
import type { AgentStepResult, Approval, StandingApproval } from '@sluice/records';
import { requestIds } from '../request-ids.js';
import { ofRun, onTheLoop, row } from './entry.js';
import { offeredWords } from './offered-words.js';

const repeats =
  'each repeats the question, the steps so far with thoughts, whole arguments and redacted results, tenant, actor and subject; the answer is in `agent.responses`';

/** The topics that a run goes through. */
export const runTopicRows = {
  'agent.requests': row('AgentRequest', {
    writers: { upstream: '', gateway: '', mcp: '', filter: 'for [schedules](schedules.md)' },
    readers: { filter: '' },
    handledBy: 'filter',
    hasCredential: true,
    part: 'run',
    stage: 2,
    kept: 'setting',
    entries: {
      request: {
        listed: true,
        with: 'requested groups and state after the defaults, the question, whether it had a credential, the call that it made itself where there is one, and `passed_on_from` where the filter passed it on to `agent.calls`',
      },
    },
    held: {
      by: 'a request belongs to its writer. With an identity, its credential says who asks, and no field can claim more than that permits',
    },
    need: 'who asked what, from which state, with which history. Without it a decision of the first iteration cannot be derived again',
    personal:
      'the question; the credential in its header: on Kafka sealed, or as a producer wrote it; on the embedded log until it is handled',
    ids: (message) => requestIds(message, message.record),
    gist: ({ question, group, state }) =>
      `"${question}" groups ${group?.join(', ') ?? '(default)'} state ${state ?? '(undefined)'}`,
  }),
  'agent.calls': row('AgentRequest', {
    about: 'a request that makes one call itself ([below](#a-call-without-a-model))',
    writers: { upstream: '', gateway: '', mcp: '', filter: 'for one that came on `agent.requests`' },
    readers: { executor: '', filter: 'to find overdue runs' },
    handledBy: 'executor',
    hasCredential: true,
    part: 'run',
    stage: 2,
    kept: 'setting',
    entries: {
      request: { listed: true, with: 'as for `agent.requests`, and `passed_on_from`' },
    },
    held: { by: 'as `agent.requests`' },
    need: 'who called what, from which state. Without it the decision on a call cannot be derived again',
    personal: 'the arguments of the call; the credential as in `agent.requests`',
    ids: (message) => requestIds(message, message.record),
    gist: ({ call, group, state }) =>
      `${call?.tool ?? ''} ${call?.arguments ?? ''} groups ${group?.join(', ') ?? '(default)'} state ${state ?? '(undefined)'}`,
  }),
  'agent.toolsets': row('Toolset', {
    writers: { filter: '' },
    readers: { agent: '', filter: 'to find overdue runs' },
    handledBy: 'agent',
    part: 'story',
    stage: 3,
    kept: 'setting',
    held: 'signed',
    entries: {
      tools_granted: {
        listed: true,
        with: 'caller, permitted, requested and granted groups, the offered tools by key and by their indexes in the configuration (`offered_indexes`), their hash, hidden tools with every reason, both by key where the Toolset names them (more than 32 it does not; what is the same as in an earlier iteration stands in the entry of that one, `offered_since`), the state, the `tool_choice` where there is one; in the first iteration the hash of the question',
      },
    },
    need: 'what was offered, what was hidden and why, with all inputs of the decision. Without it no decision can be replayed or explained',
    personal: repeats,
    ...onTheLoop,
    gist: (toolset) => `#${toolset.iteration} ${toolset.state}: ${offeredWords(toolset)}`,
  }),
  'agent.tool-calls': row('ToolCall', {
    writers: { agent: '', executor: 'for a [call without a model](#a-call-without-a-model) that waits' },
    readers: { executor: '', notifier: 'for messages about calls that wait' },
    handledBy: 'executor',
    part: 'story',
    stage: 4,
    kept: 'setting',
    held: 'signed',
    entries: {
      calls_chosen: {
        listed: true,
        with: "the thought, the calls by name and hash; the model that made them, the hash of what it was asked, and the models skipped before it; what the run's [strategy](strategies.md) decided; of [a call that its request makes itself](#a-call-in-one-hop) and that waits, what was decided about it (`decided`), requested groups and state",
      },
    },
    need: 'what the model wanted. Parked turns are here: keep it for longer than an approval may wait',
    personal: repeats,
    ...onTheLoop,
    gist: ({ iteration, calls }) => `#${iteration} ${calls.map((call) => `${call.tool} ${call.arguments}`).join('; ')}`,
  }),
  'agent.steps': row('AgentStepResult', {
    writers: { executor: '', filter: 'for the last turn of an overdue run, without steps' },
    readers: { filter: '', upstream: '' },
    handledBy: 'filter',
    part: 'story',
    stage: 6,
    kept: 'setting',
    held: 'signed',
    entries: {
      tool_call: {
        of: 'each step of an AgentStepResult',
        listed: true,
        with: 'caller, tool and its groups, outcome and reason, the rule that refused it (`rule`) where one did, times, arguments and result as far as they may be shown, their hashes, a keyed hash of the result before it was redacted, the names of its content where it has any, and what the server of its tool [asked meanwhile](mcp-hub.md#what-a-server-asks) (`questions`: kind, server, when, how it was answered and by whom; never what was asked or answered); of [a call that its request made itself](#a-call-in-one-hop) what was decided about it (`decided`)',
      },
      state_transition: { of: 'a step that changed the state', listed: true, with: 'tool, from, to, when' },
      agent_begun: {
        of: 'an AgentStepResult that begins the run of an agent',
        listed: true,
        with: 'whose call it is, the question, groups and state, what the run may use',
      },
      turn_without_calls: { of: 'an AgentStepResult without steps', listed: true, with: 'caller' },
    },
    need: 'tool results and changes of state. Without it a run shows its end, but not the way there',
    personal: repeats,
    ...onTheLoop,
    gist: whatTheTurnDid,
  }),
  'agent.responses': row('AgentResponse', {
    writers: { filter: '', agent: '', executor: 'for a turn that it cannot process' },
    readers: { upstream: '', executor: 'for [agents](agents.md)', filter: 'to find overdue runs', notifier: '' },
    handledBy: 'executor',
    part: 'story',
    stage: 9,
    kept: 'setting',
    held: 'signed',
    entries: {
      run_ended: {
        listed: true,
        with: 'outcome, the answer (`incomplete` and `finish_reason` where it is not a whole one), tokens (those of a provider’s cache where there are some), what its prompts were made of (`prompt_tokens`, where that was counted), and `request_log`: the log line of the request',
      },
      request_refused: {
        of: 'AgentResponse with `authz_denied`',
        listed: true,
        with: 'who asked for which groups; granted are none',
      },
    },
    need: 'how runs ended. Upstream systems that are away longer than this miss answers',
    personal: repeats,
    ids: ofRun,
    principal: ({ run }) => (run === null ? null : (run.principal ?? undefined)),
    tenant: ({ run, tenantId }) => run?.principal?.tenantId ?? tenantId,
    gist: ({ error, incomplete, answer }) =>
      error === null
        ? `${incomplete === null ? 'answer' : `incomplete answer (${incomplete.reason})`}: ${answer ?? ''}`
        : `error ${error.code}: ${error.message}`,
  }),
  'agent.approvals': row('Approval', {
    about: 'the request, the decision or the outcome',
    writers: { executor: '', approver: '', gateway: '', mcp: '' },
    readers: { executor: '', approver: '', notifier: '' },
    handledBy: 'executor',
    hasCredential: true,
    part: 'story',
    stage: 5,
    kept: 'setting',
    entries: {
      approval_requested: {
        listed: true,
        with: 'what waits; `question` (server, round, when) where it waits for [an answer of its caller](mcp-hub.md#what-a-server-asks)',
      },
      approval_decided: { listed: true, with: 'who decided' },
      approval_outcome: { listed: true, with: 'the outcome' },
      approval_escalated: { listed: true, with: 'who may decide from then on too' },
      standing_approval_decided: { listed: true, with: 'what an approver says of calls to come' },
      standing_approval_outcome: { listed: true, with: 'whether that counts' },
      approval_empty: { of: 'an Approval of none of these', listed: false, with: 'nothing' },
    },
    held: {
      by: 'a question and its outcome count only as the ledger has them, member for member; a decision has the credential of who decides',
    },
    need: 'who approved what. Keep it for longer than an approval may wait',
    personal:
      'arguments without what the schema marks secret, a thought, earlier steps of the turn, who asked and who decided',
    ids: ({ record: { requested, decided, outcome, escalated } }) => {
      const one = requested ?? decided ?? outcome ?? escalated;
      return one === null ? null : ofRun({ record: one });
    },
    tenant: ({ requested }) => requested?.tenantId || null,
    gist: aboutApproval,
  }),
};

function whatTheTurnDid(result: AgentStepResult): string {
  const begunBy = agentBegunBy(result);
  if (begunBy !== null)
    return `${begunBy.tool} of ${begunBy.requestId} runs as an agent of its own: ${result.requestId}`;
  return result.steps.map((step) => `${step.action} ${step.outcome}: ${step.stateBefore} → ${step.state}`).join('; ');
}

function aboutApproval({ requested, decided, outcome, escalated, standing }: Approval): string {
  if (requested !== null) return `${requested.tool} waits: ${howToDecide(requested.approvalId)}`;
  if (decided !== null) return `${decided.approvalId}: ${decided.decidedBy} says ${decided.decision}`;
  if (escalated !== null) return `${escalated.approvalId}: ${escalated.to.join(', ')} may decide too`;
  if (standing !== null) return aboutStanding(standing);
  if (outcome === null) return '';
  const { approvalId, decision, decidedBy, notTaken, stillNeeded } = outcome;
  if (stillNeeded > 0) return `${approvalId}: ${decision} by ${decidedBy}, and ${stillNeeded} more to come`;
  return `${approvalId}: ${decision} by ${decidedBy} ${notTaken === null ? 'was taken' : `does not count: ${notTaken}`}`;
}

function aboutStanding({ standingId, action, tool, decidedBy, at, notTaken }: StandingApproval): string {
  const what = `${standingId}: ${action} ${tool} by ${decidedBy}`;
  if (at === null) return what;
  return `${what} ${notTaken === null ? 'was taken' : `does not count: ${notTaken}`}`;
}

/** The command that decides on an approval. */
export function howToDecide(approvalId: string): string {
  return `npx sluice approvals approve ${approvalId}   (or refuse)`;
}
