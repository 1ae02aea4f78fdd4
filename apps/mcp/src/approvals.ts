import { CLIENT_CAPABILITIES_META_KEY, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import type { ClientCapabilities, InputRequiredResult, Server, ServerContext } from '@modelcontextprotocol/server';
import { approvalAsks, isJsonText, judgeDecision, parseExactJson, printable } from '@sluice/core';
import type { ConfiguredTool, Policy } from '@sluice/core';
import type { Caller } from './callers.js';
import type { CallOutcome, Decision } from './follow-call.js';

type Waiting = Extract<CallOutcome, { kind: 'waiting' }>;

interface Asking {
  readonly server: Server;
  readonly caller: Caller;
  readonly context: ServerContext;
  readonly tool: ConfiguredTool;
  /** The tool’s name for the client. */
  readonly name: string;
  readonly policy: Policy;
  readonly now: number;
}

/**
 * Asks the person before the client for the decision that a call waits for: a form in the client, whose answer comes
 * with the same call again. Null where the client has no forms, the caller may not decide by the policy, or an answer
 * was given already.
 */
export function askForDecision(
  { requested, notTaken }: Waiting,
  { server, caller, context, tool, name, policy, now }: Asking,
): InputRequiredResult | null {
  const { approvalId } = requested;
  const isAnswered = inputResponse(context.mcpReq.inputResponses, approvalId).kind !== 'missing';
  if (isAnswered || notTaken !== null || !hasForms(server, context)) return null;
  if (!mayDecideOn(requested, caller, policy, now)) return null;
  const message = formText(requested, { tool, name, policy });
  const reason = { type: 'string', title: 'Reason', description: 'Why, for the audit.', maxLength: 1_000 } as const;
  const requestedSchema = { type: 'object', properties: { reason } } as const;
  return inputRequired({
    inputRequests: { [approvalId]: inputRequired.elicit({ message, requestedSchema }) },
  });
}

/** Whether the caller may decide on the call that waits. */
export function mayDecideOn(
  requested: Waiting['requested'],
  { decider, mayDecide }: Caller,
  policy: Asking['policy'],
  now: number,
): boolean {
  const { approvalId, argumentsHash } = requested;
  const written = { approvalId, argumentsHash, decision: 'approve', isEditSound: true };
  return mayDecide && judgeDecision(requested, written, decider, now, policy) === null;
}

/** What the person reads: the call, what its tool does, why it waits and until when. */
function formText(
  { approvalId, arguments: written, effect, expiresAt, askedBecause }: Waiting['requested'],
  { tool, name, policy }: Pick<Asking, 'name' | 'policy' | 'tool'>,
): string {
  const rule = askedBecause === '' ? approvalAsks(tool, policy)[0]?.message : askedBecause;
  const given = isJsonText(written) ? JSON.stringify(parseExactJson(written), null, 2) : written;
  return [
    `${name} (${effect}) needs an approval.`,
    ...(tool.description === '' ? [] : [`What it does: ${printable(tool.description)}`]),
    ...(rule === undefined ? [] : [`Why: ${printable(rule)}`]),
    `Its arguments: ${printable(given)}`,
    `Accept to let it run, decline to refuse it, or cancel to decide later: ${approvalId} waits until ${new Date(expiresAt).toISOString()}.`,
  ].join('\n\n');
}

/** The decision that the client’s answers hold on an approval; null while there is none, or the person put it off. */
export function answerIn({ mcpReq }: ServerContext): (approvalId: string) => Decision | null {
  return (approvalId) => {
    const answer = inputResponse(mcpReq.inputResponses, approvalId);
    if (answer.kind !== 'elicit' || answer.action === 'cancel') return null;
    const reason = answer.content?.['reason'];
    return {
      decision: answer.action === 'accept' ? 'approve' : 'refuse',
      reason: typeof reason === 'string' ? reason.slice(0, 1_000) : '',
    };
  };
}

/** Whether the client shows forms: it says so once in the older era, with each request in the newer one. */
export function hasForms(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const said = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const elicitation = (said as ClientCapabilities | undefined)?.elicitation;
  if (elicitation === undefined) return false;
  return elicitation.form !== undefined || elicitation.url === undefined;
}
