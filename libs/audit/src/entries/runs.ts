import { fieldsThere, normaliseGroups, normaliseState, requestFieldsOfAudit, requestLog } from '@sluice/core';
import type { JsonObject, JsonValue } from '@sluice/core';
import { passedOnHeader, requestIds, sha256, snakeCase } from '@sluice/contracts';
import type { AgentResponse, RequestTopic } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import { caller, contentOf, cut, time, draftEntry } from './draft-entry.js';
import { cachedTokens, decisionOf, modelOf, promptTokens } from './turns.js';
import type { EntryDraft } from './draft-entry.js';

/** A request as it came: what it asks for after the defaults (XG-23), before anybody decided on it. */
export function requestEntry(message: Incoming<RequestTopic>): EntryDraft {
  const { record, headers } = message;
  const asksAs = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  const passedOnFrom = message.topic === 'agent.calls' ? headers[passedOnHeader] : undefined;
  return draftEntry('request', requestIds(message, record), {
    question: cut(record.question),
    question_hash: sha256(record.question),
    ...contentOf(record.content),
    requested_groups: normaliseGroups(record.group),
    initial_state: normaliseState(record.state),
    history_steps: record.history.length,
    max_iterations: record.maxIterations,
    deadline: record.deadline === null ? null : time(record.deadline),
    claimed_user: record.userId,
    has_credential: asksAs,
    ...seenOf(record),
    // Set only where there is one, so that entries of other requests are unchanged.
    ...(record.call === null
      ? {}
      : { call: cut(record.call.tool), call_arguments_hash: sha256(record.call.arguments) }),
    ...(passedOnFrom === undefined ? {} : { passed_on_from: cut(passedOnFrom) }),
  });
}

/** What the schema of a request says that its entry has, by the names on the wire. */
function seenOf(request: object, names: readonly string[] = requestFieldsOfAudit): JsonObject {
  const there = fieldsThere(request, names) as readonly (readonly [string, JsonValue])[];
  return Object.fromEntries(
    there.map(([name, value]) => [snakeCase(name), typeof value === 'string' ? cut(value) : value]),
  );
}

/** The end of a run, with the log record of its request; a refusal is an entry of its own kind (G-94, G-98). */
export function responseEntry(response: AgentResponse): EntryDraft {
  const { run, error, requestId, sessionId, configVersion } = response;
  const refused = error?.code === 'authz_denied';
  const asked = { groups: run?.requestedGroups ?? [], state: response.state };
  const common = {
    ...caller(run?.principal ?? null),
    ...(response.tenantId === null ? {} : { tenant: response.tenantId }),
    // Without a run the groups were never read: the entry of the request has them.
    requested_groups: run?.requestedGroups ?? null,
    granted_groups: refused ? [] : (run?.requestedGroups ?? []),
    state: response.state,
    ended_at: time(response.endedAt),
    request_log: run === null ? null : { ...requestLog(requestId, run, asked, response.endedAt) },
  };
  const ids = { requestId, sessionId, configVersion };
  if (refused) return draftEntry('request_refused', ids, { ...common, code: error.code, message: cut(error.message) });
  return draftEntry('run_ended', ids, {
    ...common,
    outcome: error?.code ?? 'answer',
    message: error === null ? null : cut(error.message),
    answer: response.answer === null ? null : cut(response.answer),
    answer_hash: response.answer === null ? null : sha256(response.answer),
    ...(response.incomplete === null
      ? {}
      : { incomplete: response.incomplete.reason, finish_reason: cut(response.incomplete.finishReason) }),
    iterations: response.iterations,
    input_tokens: run?.inputTokens ?? 0,
    output_tokens: run?.outputTokens ?? 0,
    ...cachedTokens(run),
    ...promptTokens(run),
    ...modelOf(response),
    ...decisionOf(response),
    ...(run === null || run.parent === null ? {} : { parent_request_id: run.parent.requestId }),
  });
}
