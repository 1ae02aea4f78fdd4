// Generated from schemas/ by `npm run generate`. Do not edit.

/** A request that the gateway refused because its caller may not make it, so that nothing else of it is on the log. */
export interface AccessDenial {
  /** The method and the route, as POST /v1/runs. */
  readonly route: string;
  /** The id that the request named or got; empty for a listing. It was not taken. */
  readonly requestId: string;
  /** The session that the request named or got; empty for a listing. */
  readonly sessionId: string;
  /** The caller’s tenant, as its credential says. */
  readonly tenantId: string;
  /** The caller. */
  readonly actorId: string;
  /** On whose behalf; null where it is the caller’s own. */
  readonly subjectId: string | null;
  /** What the caller may ask for; the first 100. */
  readonly permittedGroups: readonly string[];
  /** What the request asked for, after the default; the first 100. */
  readonly requestedGroups: readonly string[];
  /** Of these, those that the caller may not ask for; the first 100. */
  readonly refusedGroups: readonly string[];
  /** The state that the request asked for, after the default. */
  readonly state: string;
  /** The error code that the caller got. */
  readonly code: string;
  /** What the caller read. */
  readonly reason: string;
  /** groups; escalation, where it asked for every group, or in another user’s name; operator, where the route is for operators. */
  readonly kind: string;
  /** The configuration of the decision. */
  readonly configVersion: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Thoughts, text and tool progress as they happen: best effort, may be lost or seen twice. */
export interface AgentProgress {
  /** The run. */
  readonly requestId: string;
  /** The key. */
  readonly sessionId: string;
  /** From 1. */
  readonly iteration: number;
  /** thinking, text, tool_call_start, tool_call_result, tool_progress, tool_log, tool_question, model_retry or, of no run and under the key mcp-servers, server_changed. A reader skips kinds that it does not know. */
  readonly kind: string;
  /** The call it belongs to. */
  readonly toolCallId: string | null;
  /** The tool's configuration key. */
  readonly tool: string | null;
  /** Text, validated arguments, the redacted result, or why the model is asked again. */
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** For which tenant the run is. */
  readonly tenantId: string | null;
  /** For text: names one reply of the model. Another name is the model asked again, and its text starts over. Empty where an earlier version wrote the record. */
  readonly attempt: string;
  /** For text: the number of the piece in its attempt, from 0. For model_retry: how often the model was asked in vain. */
  readonly sequence: number;
  /** For model_retry: when it is asked again, in milliseconds since the epoch; null for all others. */
  readonly retryAt: number | null;
  /** What the tool's MCP server says while the call runs, as JSON. For tool_progress its numbers: progress and total. For tool_log: level, logger and data. For tool_question the name of the question, which doors look up. For server_changed: server, and the list that is another one now, or the uri of the resource that changed. Null where a tool reports a text alone, and for all other kinds. */
  readonly notice: string | null;
}

/** What an upstream system asks: a question, and what may be used to answer it. */
export interface AgentRequest {
  /** The user's query. */
  readonly question: string;
  /** The state to start in; absent, null or empty means `undefined`. */
  readonly state: string | null;
  /** The tool groups allowed for this request; absent or null means `default`, an empty list means no tools, `*` means all. */
  readonly group: readonly string[] | null;
  /** The ids of the tools that this run may use, of those it would be offered; absent or null means all of these, an empty list means none. */
  readonly toolIds: readonly string[] | null;
  /** Steps taken so far. */
  readonly history: readonly AgentStep[];
  /** The ids of the connections that tools may use for this request, of those its sender may use; `*` means all of these. Absent, null or empty means none. */
  readonly connections: readonly string[] | null;
  /** Names the run; taken once. Absent: derived from the record's place on the log. */
  readonly requestId: string | null;
  /** Keys every record of the run. Absent: the record's key, else the request_id. */
  readonly sessionId: string | null;
  /** Fewer iterations than the configuration allows. */
  readonly maxIterations: number | null;
  /** When the run must have ended, milliseconds since the epoch. */
  readonly deadline: number | null;
  /** Who the sender says asks. Never believed: identity comes from the credential, and another one than that is refused. */
  readonly userId: string | null;
  /** Whether the model must call a tool: `auto`, `none` (it calls none in the whole run), `required` (it calls one in its first turn), or the key or id of the offered tool that it calls in its first turn. Absent, null or empty means `auto`. */
  readonly toolChoice: string | null;
  /** The one call that the run makes, without asking a model; its result is the answer. Absent or null means that the model is asked. */
  readonly call: DirectCall | null;
  /** How the run comes to its answer, of the strategies that the configuration lets requests choose; absent, null or empty means the configuration's own. */
  readonly strategy: string | null;
  /** Images and files of the question, which stand in the content store as content of this run; absent or null means none. */
  readonly content: readonly StepContent[] | null;
  /** What the client says was said before the question, the oldest first. The model reads it as the client's words, never as steps or answers of Sluice; absent or null means none. */
  readonly conversation: readonly ConversationMessage[] | null;
  /** The name of the configuration's agent that is asked; absent, null or empty means `default`. */
  readonly agent: string | null;
  /** Tools that the client runs itself, as JSON text that a door wrote; the run waits for their results. Absent or null means none. */
  readonly clientTools: string | null;
  /** A JSON Schema, as JSON text, that the answer has to fit; absent, null or empty means that of the agent, or none. */
  readonly answerSchema: string | null;
  /** How the run's models are to write their turns; absent or null means as the configuration says. */
  readonly sampling: Sampling | null;
}

/** The one end of a run. */
export interface AgentResponse {
  /** The run. */
  readonly requestId: string;
  /** The key. */
  readonly sessionId: string;
  /** `answer` or `error`. */
  readonly kind: string;
  /** The answer. */
  readonly answer: string | null;
  /** Why there is none. */
  readonly error: RunError | null;
  /** The user's query. */
  readonly question: string;
  /** The state at the end. */
  readonly state: string;
  /** All steps; empty for a request that never began. */
  readonly history: readonly AgentStep[];
  /** The run, null for a request that never began. */
  readonly run: Run | null;
  /** Iterations begun. */
  readonly iterations: number;
  /** The configuration of the last decision. */
  readonly configVersion: string;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** For which tenant, where there is no `run` to say it; null where there is one, and where no credential was verified. */
  readonly tenantId: string | null;
  /** The model that gave the answer, and what it was asked; null where no model ended the run, or where an earlier version wrote the record. */
  readonly model: TurnModel | null;
  /** What the run's strategy decided for the turn; null where it is `react`, where no turn ended the run, or where an earlier version wrote the record. */
  readonly decision: StrategyDecision | null;
  /** Why the answer is not a whole one; null for a whole answer, for an error, or where an earlier version wrote the record. */
  readonly incomplete: IncompleteAnswer | null;
  /** What stood in each budget with a span where one of them ended the run; else empty. */
  readonly budgets: readonly BudgetState[];
  /** The answer as JSON text that fits the answer schema; null where there is none, for an error, or where an earlier version wrote the record. */
  readonly structured: string | null;
  /** The agent that the request asked; null for the default agent, for a request that asks none, for a run that another one called (`run.parent` names its tool), or where an earlier version wrote the record. */
  readonly agent: string | null;
  /** The signature of the service that ended the run over the whole record but for this; null where an earlier version wrote it. */
  readonly recordSignature: string | null;
}

/** The run that a call of an agent tool was. */
export interface AgentRun {
  /** Names it. */
  readonly requestId: string;
  /** Tokens the model read in it. */
  readonly inputTokens: number;
  /** Tokens the model wrote in it. */
  readonly outputTokens: number;
  /** The `definition_tokens` of the run at its end. */
  readonly definitionTokens: number | null;
  /** Its `result_tokens`. */
  readonly resultTokens: number | null;
  /** Its `other_tokens`. */
  readonly otherTokens: number | null;
  /** Those of its tokens that another model took than the one that the calling run asks first, where that has a price; null where there are none. */
  readonly otherModels: OtherModels | null;
}

/** One step of a run: a thought, a tool call and its outcome. What a history holds. */
export interface AgentStep {
  /** Why the model acted so. */
  readonly thought: string;
  /** The tool's configuration key, or what the model wrote if no tool has that name. */
  readonly action: string;
  /** The arguments as the model wrote them. */
  readonly arguments: string;
  /** The redacted result as JSON text (a string as it is), or the safe error message. */
  readonly observation: string;
  /** `ok`, or the tool error code. */
  readonly outcome: string;
  /** The finer reason of a failed call. */
  readonly reason: string | null;
  /** The state the call was checked against. */
  readonly stateBefore: string;
  /** The state after the step. */
  readonly state: string;
  /** The id of the call, the same from start to result. */
  readonly toolCallId: string;
  /** The iteration the step belongs to, from 1; 0 for a step that an upstream system brought along. */
  readonly iteration: number;
  /** The place of the call in its turn, from 0. */
  readonly index: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
  /** A keyed hash of the result before it was redacted (docs/audit.md); null in a history, and where no result came. */
  readonly resultHash: string | null;
  /** The run that the call was, where its tool is an agent; else null. */
  readonly agentRun: AgentRun | null;
  /** What the model's provider gets back with the call, as JSON text; in the history that a run goes on with, and null everywhere else. */
  readonly providerData: string | null;
  /** When the tool gave the result to an equal call, milliseconds since the epoch, where it was not run for this one; else null, and null in a history. */
  readonly cachedAt: number | null;
  /** On the first use of a tool that the model was sent with its short description: `read` if its page had been read before, else `unread`. Null on every other step, and in a history. */
  readonly documentation: string | null;
  /** What of the result stands in the content store; empty where everything stands in the observation. In a history the images, sounds and files alone, which a model may be given. */
  readonly content: readonly StepContent[];
  /** What the MCP server of the tool asked in the middle of the call; empty in a history. */
  readonly questions: readonly StepQuestion[];
  /** The rule of the configuration that refused the call; null where none did, and in a history. */
  readonly rule: string | null;
  /** What was found out beside the record to decide about the call, by name, so that it can be decided again; empty in a history. */
  readonly facts: Readonly<Record<string, string>>;
  /** What an approver changed the arguments to, with which the call was made; null where it was made as the model wrote it. */
  readonly edited: EditedArguments | null;
}

/** What the executor made of a turn: its steps, and the request as it goes on. */
export interface AgentStepResult {
  /** The run. */
  readonly requestId: string;
  /** The key. */
  readonly sessionId: string;
  /** From 1. */
  readonly iteration: number;
  /** One for each call, refusals included. */
  readonly steps: readonly AgentStep[];
  /** The request for the next iteration: new state, longer history. */
  readonly next: AgentRequest;
  /** The run so far. */
  readonly run: Run;
  /** The configuration the calls were run under. */
  readonly configVersion: string;
  /** The executor's signature over how it goes on. */
  readonly signature: string | null;
  /** The configuration then in force, which may only deny; empty where an earlier version wrote the record. */
  readonly inForceVersion: string;
  /** The executor's signature over the whole record but for this, `signature` included; that of its key for calls where `call` is set; null where an earlier version wrote it, or where the filter takes a turn back. */
  readonly recordSignature: string | null;
  /** What the turn was offered, so that an iteration that is offered the same does not name it again. */
  readonly list: OfferedList | null;
  /** What was decided about the one call of a run without a model, which ends with it; null for every other turn. */
  readonly call: CallDecision | null;
}

/** An event of the approvals topic: exactly one member is set. */
export interface Approval {
  /** A call waits. */
  readonly requested: ApprovalRequested | null;
  /** It was decided on. */
  readonly decided: ApprovalDecided | null;
  /** Its outcome. */
  readonly outcome: ApprovalOutcome | null;
  /** Others may decide on it from now on. */
  readonly escalated: ApprovalEscalated | null;
  /** Calls to come are approved within bounds, or no longer are. */
  readonly standing: StandingApproval | null;
}

/** A decision on a waiting call. */
export interface ApprovalDecided {
  /** Names the approval. */
  readonly approvalId: string;
  /** The run. */
  readonly requestId: string;
  /** The key. */
  readonly sessionId: string;
  /** `approve` or `refuse`. */
  readonly decision: string;
  /** What was decided on. */
  readonly argumentsHash: string;
  /** Who, as `user:…`; may be empty where a credential says it. */
  readonly decidedBy: string;
  /** Why. */
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly decidedAt: number;
  /** Where the ApprovalRequested stands on this topic that was decided on. */
  readonly requestedPartition: number | null;
  /** Its offset. */
  readonly requestedOffset: number | null;
  /** The arguments that the approver gives the call in place of the model's, as the JSON of an object; null: as they are. Secrets that are left out, or stand as `[redacted]`, stay as the model wrote them. */
  readonly editedArguments: string | null;
  /** SHA-256 over edited_arguments, hexadecimal; null where there are none. */
  readonly editedHash: string | null;
  /** The person, as `user:…`, for whom a service decides; null where who decides does so itself. */
  readonly decidedFor: string | null;
}

/** A call has waited so long that others may decide on it too. */
export interface ApprovalEscalated {
  /** Names the approval. */
  readonly approvalId: string;
  /** The run. */
  readonly requestId: string;
  /** The key. */
  readonly sessionId: string;
  /** The tool's id. */
  readonly tool: string;
  /** The rule of policy.approval that says so. */
  readonly rule: string;
  /** Who may decide from now on too, as the entries of the configuration. */
  readonly to: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The outcome of a decision, or of none in time: the executor took it and the run goes on, or it did not count. */
export interface ApprovalOutcome {
  /** Names the approval. */
  readonly approvalId: string;
  /** The run. */
  readonly requestId: string;
  /** The key. */
  readonly sessionId: string;
  /** `approve`, `refuse`, `expire`, `run` where time was up and the rules let the call run then, or what else was written. */
  readonly decision: string;
  /** Who; the executor itself where time ran out. */
  readonly decidedBy: string;
  /** Why. */
  readonly reason: string;
  /** What was decided on. */
  readonly argumentsHash: string;
  /** Why the decision does not count; null: it was taken. */
  readonly notTaken: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The configuration by whose policy it was judged; empty where an earlier version wrote the record. */
  readonly configVersion: string;
  /** The arguments with which the approver had the call made, as written; null: as they were. */
  readonly editedArguments: string | null;
  /** SHA-256 over edited_arguments, hexadecimal; null where there are none. */
  readonly editedHash: string | null;
  /** How many approvals the call waits for behind this one; 0: it waits no more. */
  readonly stillNeeded: number;
  /** The rules that an approval counts for, where several approvals are needed. */
  readonly rules: readonly string[];
  /** All who have approved the call so far, where several approvals are needed. */
  readonly approvedBy: readonly string[];
  /** The entries of the approvers' lists that name who decided, where a group, a role or a claim does. */
  readonly decidedAs: readonly string[];
  /** The person for whom who decided acts, as its credential says; null for none. */
  readonly decidedFor: string | null;
  /** The service that decided for this person, as policy.approval.on_behalf lets it; null where the person did. */
  readonly decidedThrough: string | null;
}

/** A call that waits for an approval: what is requested, who requested it, and the position of its turn. */
export interface ApprovalRequested {
  /** Names the approval; derived from the request, the iteration, the place in the turn, the tool and the arguments. */
  readonly approvalId: string;
  /** The run. */
  readonly requestId: string;
  /** The key. */
  readonly sessionId: string;
  /** The tool's id. */
  readonly tool: string;
  /** SHA-256 over the arguments as written, hexadecimal. */
  readonly argumentsHash: string;
  /** The validated arguments as JSON, without what their schema calls secret. */
  readonly arguments: string;
  /** Where the parked turn stands. */
  readonly topic: string;
  /** Its partition. */
  readonly partition: number;
  /** Its offset. */
  readonly offset: number;
  /** Without a decision by then the call is refused; milliseconds since the epoch. */
  readonly expiresAt: number;
  /** From 1. */
  readonly iteration: number;
  /** The place of the call in its turn, from 0. */
  readonly index: number;
  /** The id of the call, the same from start to result. */
  readonly toolCallId: string;
  /** What running the tool can change. */
  readonly effect: string;
  /** Why the model wants it. */
  readonly thought: string;
  /** Who asked, as `user:…`. */
  readonly requestedBy: string;
  /** Whom the asker acts for. */
  readonly onBehalfOf: string | null;
  /** For which tenant. */
  readonly tenantId: string;
  /** The configuration that granted the turn. */
  readonly configVersion: string;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number;
  /** The turn's calls before this one, which are done and are not done again. */
  readonly steps: readonly AgentStep[];
  /** The configuration in force when it was asked, which may only deny; empty where an earlier version wrote the record. */
  readonly inForceVersion: string;
  /** How long the run had waited for people before, milliseconds; null where it had not, and where an earlier version wrote the record. */
  readonly parkedMs: number | null;
  /** What asks for the approval, where rules of policy.approval do; empty where one approval of an approver of the policy is enough. */
  readonly rules: readonly AskingRule[];
  /** Why it is asked, in a sentence; empty where an earlier version wrote the record. */
  readonly askedBecause: string;
  /** The state of the run before the call; empty where an earlier version wrote the record. */
  readonly state: string;
  /** The groups that the turn was granted; empty where an earlier version wrote the record. */
  readonly groups: readonly string[];
  /** A digest of all that an approval is of: where any of it is another before the call runs, it is asked about again. Empty where an earlier version wrote the record. */
  readonly bound: string;
  /** The other approvals that were asked for in the same turn, by their ids, sorted. */
  readonly others: readonly string[];
  /** The approval that the turn waits for first: a decision on this one is kept until the turn comes to its call. Null where the turn waits at this call. */
  readonly behind: string | null;
  /** What the call waits for, where it is no approval but an answer of its caller to the tool's server. */
  readonly question: AskedQuestion | null;
  /** The agent whose run makes the call, as rules name it: of one that is called as a tool the key of its tool. Null for the default agent, for a call that a request names itself, or where an earlier version wrote the record. */
  readonly agent: string | null;
}

/** What a call waits for that its caller may take time over, none of its contents: a form that the MCP server of the call shows, or the result of a tool that the caller runs itself (docs/mcp-hub.md, docs/doors.md). */
export interface AskedQuestion {
  /** The server's name in the configuration; empty for a tool of the caller's own. */
  readonly server: string;
  /** How often the call has waited with this: the answer begins its next round. */
  readonly round: number;
  /** When the server asked, milliseconds since the epoch. */
  readonly askedAt: number;
}

/** One of the rules that ask for an approval of a call: each has to have its approvers. */
export interface AskingRule {
  /** `rule` for a rule of policy.approval, `effect` for what the tool can change, `plan` for a plan. */
  readonly rule: string;
  /** The name of the rule; empty for the others. */
  readonly name: string;
  /** Why it asks, in a sentence. */
  readonly message: string;
  /** How many approvers have to approve the call. */
  readonly quorum: number;
  /** Who might decide when it was asked, as the entries of the configuration. */
  readonly approvers: readonly string[];
  /** When the others may decide too, milliseconds since the epoch; null for never. */
  readonly escalatesAt: number | null;
  /** The others. */
  readonly escalateTo: readonly string[];
  /** What happens where no decision comes in time: `refuse`, or `run`. */
  readonly onExpiry: string;
}

/** One entry of the audit chain. */
export interface AuditRecord {
  /** What happened. */
  readonly kind: string;
  /** The run. */
  readonly requestId: string;
  /** The key. */
  readonly sessionId: string;
  /** The record it tells of. */
  readonly sourceTopic: string;
  /** Its partition. */
  readonly sourcePartition: number;
  /** Its offset. */
  readonly sourceOffset: number;
  /** The entry, as JSON text. */
  readonly details: string;
  /** The configuration of the decision. */
  readonly configVersion: string;
  /** Hash of the entry before in this chain; empty for the first. */
  readonly previousHash: string;
  /** Hash over this entry and the one before. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The place in its chain, from 1; 0 for a checkpoint that stands beside it. */
  readonly sequence: number;
  /** SHA-256 over what the record it tells of says, hexadecimal. */
  readonly sourceHash: string;
}

/** What stood in a budget with a span when a model was to be asked. */
export interface BudgetState {
  /** Whose calls it counts together: `user`, `tenant` or `agent`. */
  readonly per: string;
  /** Its span, in milliseconds. */
  readonly withinMs: number;
  /** `tokens` or `usd`. */
  readonly unit: string;
  /** What was used or reserved before, a decimal number. */
  readonly used: string;
  /** The most that the call may use, which it reserves. */
  readonly adds: string;
  /** When the budget that refused the call has room for it again, milliseconds since the epoch; null where it did not refuse it, and where the call is larger than the budget. */
  readonly opensAt: number | null;
}

/** What the executor decided about the call that a request makes itself, before it ran it. */
export interface CallDecision {
  /** Milliseconds since the epoch. */
  readonly decidedAt: number;
  /** The groups decided on, after the default. */
  readonly groups: readonly string[];
  /** Why the tool was not offered, as in a Toolset; empty where it was. */
  readonly hidden: readonly string[];
  /** All hidden tools by first reason. */
  readonly hiddenCounts: Readonly<Record<string, number>>;
  /** Requested groups that no configuration knows. */
  readonly unknownGroups: readonly string[];
  /** Of `groups`, those that stand in for a requested one without an available tool. */
  readonly fallbackGroups: readonly string[];
  /** As in a Toolset. */
  readonly toolChoice: string | null;
  /** SHA-256 over the offered tools with their schemas' hashes, and the others with their reasons: a Toolset of the same decision has it in `list`. */
  readonly listHash: string;
}

/** A caller cancels its run. The filter writes it once more with its outcome. */
export interface Cancellation {
  /** The run. */
  readonly requestId: string;
  /** The session of the run, and the key; the request_id where it is empty. */
  readonly sessionId: string;
  /** Why, in words for people; at most 500 characters. */
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** Whether it counts only for a run whose request a filter has taken; without it, also for one that comes later. */
  readonly mustExist: boolean;
  /** Null as it is asked for; the filter sets it. */
  readonly outcome: CancellationOutcome | null;
}

/** What the filter decided on a cancellation. */
export interface CancellationOutcome {
  /** Who cancelled, as the credential says; empty where it does not hold. */
  readonly actorId: string;
  /** Of which tenant; empty where the credential does not hold. */
  readonly tenantId: string;
  /** Null if the run is cancelled; else why not: not_authenticated, not_its_caller, no_such_run or ended. */
  readonly notTaken: string | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A compiled configuration that was in force, the last one on the topic is; or one tool of it, as a part that versions share. */
export interface ConfigVersion {
  /** Hash over the compiled configuration, which begins with c-; of a part, p- and the SHA-256 of its text, base64url. */
  readonly version: string;
  /** The compiled configuration as JSON text, without its tools where parts holds them; of a part, one tool of it. */
  readonly configuration: string;
  /** Where it was compiled from. */
  readonly source: string;
  /** Milliseconds since the epoch. */
  readonly compiledAt: number;
  /** The signature, with a key of the role config, over the whole record but for this; null of a part, whose name is its hash, and where an earlier version wrote it. */
  readonly recordSignature: string | null;
  /** The parts that hold its tools, in order, by their versions; they stand before it on the topic. Empty where the tools stand in the configuration itself. */
  readonly parts: readonly string[];
}

/** One message of the conversation that a client keeps: its words, unchecked. */
export interface ConversationMessage {
  /** Whose words they are, as the client says: `user`, `assistant`, or `system` for what the client’s application asks for. */
  readonly role: string;
  /** The words. */
  readonly text: string;
}

/** A record that could not be processed, as it was, and why. */
export interface DeadLetter {
  /** Where it came from. */
  readonly topic: string;
  /** Its partition. */
  readonly partition: number;
  /** Its offset. */
  readonly offset: number;
  /** Who gave it up. */
  readonly group: string;
  /** Its key. */
  readonly key: string;
  /** Its payload, unchanged. */
  readonly value: Uint8Array;
  /** Its headers without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** When the log took it, milliseconds since the epoch. */
  readonly timestamp: number;
  /** A fault code (docs/errors.md). */
  readonly code: string;
  /** A sentence. */
  readonly reason: string;
  /** How often it was tried. */
  readonly attempts: number;
  /** Milliseconds since the epoch. */
  readonly failedAt: number;
  /** The code of the fault that the retries ended with; null if it was not retried until the limit, or by a former version. */
  readonly lastFault: string | null;
}

/** A call that a request makes itself, as a model would write it. */
export interface DirectCall {
  /** The key or id of the tool. */
  readonly tool: string;
  /** The arguments, as JSON text. */
  readonly arguments: string;
  /** `none` if the call's run does not wait for others of its session, and they not for it. Absent, null or empty means that it runs in their order. */
  readonly order: string | null;
}

/** Which of a request’s tools a model was shown, what it searched for and what it called. */
export interface DiscoveryRecord {
  /** The run, or the request to the proxy. */
  readonly requestId: string;
  /** The session of the run; of a request to the proxy, the hash of the conversation’s first message. */
  readonly sessionId: string;
  /** For whom. */
  readonly tenantId: string;
  /** Who asked the model: proxy or agent. */
  readonly source: string;
  /** Of the run, from 1; 0 at the proxy. */
  readonly iteration: number;
  /** The wire format of the request. */
  readonly wire: string;
  /** The model that it names. */
  readonly model: string;
  /** The strategy in force. */
  readonly strategy: string;
  /** Why the tools were left as they are; null where they were not. */
  readonly bypass: string | null;
  /** Tools of the request. */
  readonly totalTools: number;
  /** Of these, those that the first request to the model held. */
  readonly keptTools: number;
  /** Of these, those that it did not hold. */
  readonly deferredTools: number;
  /** Whether the provider’s own search stood in for the search tool: provider, or why not (unsupported_wire, unsupported_model); null where it was not asked for. */
  readonly nativeSearch: string | null;
  /** In order; the first 50. */
  readonly searches: readonly DiscoverySearch[];
  /** Rounds of searches before there was an answer. */
  readonly rounds: number;
  /** Names of the tools that the model called, each once; the first 100. */
  readonly called: readonly string[];
  /** How many these are. */
  readonly calledTools: number;
  /** Of these, those that the first request to the model did not hold. */
  readonly calledDeferred: number;
  /** Tokens of all definitions; null where they were not counted. */
  readonly tokensBefore: number | null;
  /** Tokens of those that the first request to the model held. */
  readonly tokensAfter: number | null;
  /** What counted: o200k or cl100k, with ~ before it where the model has another and this is an approximation. */
  readonly tokenizer: string | null;
  /** Milliseconds from the request to the choice. */
  readonly chooseMs: number;
  /** What another strategy would have shown; null where none ran beside. */
  readonly shadow: DiscoveryShadow | null;
  /** What the strategy hybrid went by: used for the closeness of meanings; words alone where it was preparing, late, failed, too_many_tools or no_model; null where it was not asked for. */
  readonly meanings: string | null;
  /** The configuration of the choice. */
  readonly configVersion: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A search of a model for tools that it was not shown. */
export interface DiscoverySearch {
  /** What it searched for, at most 2,000 characters. */
  readonly query: string;
  /** How it was answered: regex, keywords, blank, ranked, api, provider, all where the service of the strategy api gave no selection, or too_long where the query was too long to be searched for. */
  readonly by: string;
  /** Names of the tools that it got, in order; the first 100. */
  readonly matched: readonly string[];
  /** How many these are. */
  readonly matchedTools: number;
  /** Why the service of the strategy api gave no selection; null where it did, or was not asked. */
  readonly failOpen: string | null;
}

/** What a strategy that ran beside the one in force would have shown. */
export interface DiscoveryShadow {
  /** The strategy. */
  readonly strategy: string;
  /** How many tools it would have shown. */
  readonly keptTools: number;
  /** Of the tools that the model called, those that it would have left out; the first 100. */
  readonly missed: readonly string[];
  /** How many these are. */
  readonly missedTools: number;
}

/** The arguments that an approver gave a call in place of the model's. */
export interface EditedArguments {
  /** As JSON, without what their schema calls secret, and cut where they are long; the decision on agent.approvals has them whole. */
  readonly arguments: string;
  /** SHA-256 over the arguments as the approver wrote them, hexadecimal. */
  readonly argumentsHash: string;
  /** The approver, as `user:…`. */
  readonly editedBy: string;
}

/** The calls of one turn that run side by side, each as an agent's run: neighbours of the turn, begun together and joined when all have ended. */
export interface FanOut {
  /** The place of the first of them in the turn, from 0. */
  readonly first: number;
  /** How many they are. */
  readonly size: number;
}

/** The tools of a run's first iteration, by their indexes in the configuration of that time, where they are too many to be named in each record. */
export interface FirstTools {
  /** The configuration that the indexes are of. */
  readonly configVersion: string;
  /** Indexes of the configuration's tools, in its order, as lengths in turn: so many are left out, so many are meant, so many are left out, and so on. */
  readonly available: readonly number[];
  /** The same. */
  readonly filteredByGroup: readonly number[];
  /** The same. */
  readonly filteredByState: readonly number[];
}

/** Tools that are hidden for the same reasons, by their indexes in the configuration that the record names. */
export interface HiddenIndexes {
  /** As in `hidden`. */
  readonly reasons: readonly string[];
  /** As in `list`. */
  readonly indexes: readonly number[];
}

/** A tool that is not offered, and every reason why. */
export interface HiddenTool {
  /** The configuration key. */
  readonly key: string;
  /** group, state, policy, unavailable, … */
  readonly reasons: readonly string[];
}

/** Why a model's text is not its whole answer: its provider ended the turn otherwise than with a stop. */
export interface IncompleteAnswer {
  /** `length` (a limit of tokens), `filtered` (a content filter or a refusal) or `other`. */
  readonly reason: string;
  /** The provider's own word for it, such as `max_tokens`; empty where it gave none. */
  readonly finishReason: string;
}

/** What one subscription is to be sent by a webhook. */
export interface Notification {
  /** Names the event, derived from its record; the same for each attempt and each subscription, so that a receiver can leave out what it has. */
  readonly notificationId: string;
  /** The entry of notify.subscriptions. */
  readonly subscription: string;
  /** What happened, such as `run.ended`. */
  readonly event: string;
  /** The run; empty where it is of none. */
  readonly requestId: string;
  /** Its session. */
  readonly sessionId: string;
  /** For which tenant; null where that is not known. */
  readonly tenantId: string | null;
  /** What it is about: the id of a run or an approval, or the place of a dead letter. */
  readonly subject: string;
  /** How that ended; empty where it has not. */
  readonly outcome: string;
  /** When it happened, milliseconds since the epoch. */
  readonly at: number;
  /** Where in a run it stands, for events of the same millisecond. */
  readonly stage: number;
  /** What the event says, as the JSON of an object. */
  readonly data: string;
}

/** Which tools a turn was offered, as indexes in the configuration that the record names. Their specifications stand there. */
export interface OfferedList {
  /** SHA-256 over the offered tools with their schemas' hashes, and the others with their reasons. */
  readonly hash: string;
  /** Indexes of the configuration's tools, in its order, as lengths in turn: so many are left out, so many are meant, so many are left out, and so on. */
  readonly indexes: readonly number[];
  /** The iteration whose Toolset names them: lists that stay the same in a run are written once. */
  readonly since: number;
}

/** A tool the model may choose in this turn. */
export interface OfferedTool {
  /** The name on the model's wire. */
  readonly id: string;
  /** The configuration key. */
  readonly key: string;
  /** What the model reads; empty where the configuration has it. */
  readonly description: string;
  /** JSON Schema draft 7, as JSON text; empty where the configuration has it. */
  readonly inputSchema: string;
  /** read_only, state_change or external_side_effect. */
  readonly effect: string;
  /** Hash over the canonical input schema. */
  readonly schemaHash: string;
}

/** Of a run's tokens, those of models that it does not ask first, and what they cost by the prices of those. */
export interface OtherModels {
  /** Of the run's `input_tokens`, those that such models read. */
  readonly inputTokens: number;
  /** Of its `output_tokens`, those that they wrote. */
  readonly outputTokens: number;
  /** Of its `cached_input_tokens`, theirs. */
  readonly cachedInputTokens: number;
  /** Of its `cache_write_tokens`, theirs. */
  readonly cacheWriteTokens: number;
  /** What they cost, in millionths of a US dollar. */
  readonly microUsd: number;
}

/** A call of an agent that a run is within: the tool, and the run that made the call. */
export interface OuterCall {
  /** The tool's id. */
  readonly tool: string;
  /** The run whose call it is. */
  readonly requestId: string;
}

/** The call that a run answers, where it runs as an agent tool: where its turn is parked, what is done of it, and what the run may use up. */
export interface ParentCall {
  /** The tool's id. */
  readonly tool: string;
  /** The run whose call it is. */
  readonly requestId: string;
  /** Its key. */
  readonly sessionId: string;
  /** The id of the call, the same from start to result. */
  readonly toolCallId: string;
  /** Where its ToolCall stands on agent.tool-calls. */
  readonly partition: number;
  /** The same. */
  readonly offset: number;
  /** The place of the call in its turn, from 0. */
  readonly index: number;
  /** When the call began, milliseconds since the epoch. */
  readonly startedAt: number;
  /** Tokens that the model may read and write in this run; null for no limit. */
  readonly maxTokens: number | null;
  /** What they may cost, in millionths of a US dollar; null for no limit. */
  readonly maxMicroUsd: number | null;
  /** The turn's calls before this one, which are done and are not done again. Of calls that run side by side: those before the first of them. */
  readonly steps: readonly AgentStep[];
  /** The calls that run side by side with this one; null where it runs alone. */
  readonly fanOut: FanOut | null;
  /** When the calling run's own request wants its answer at the latest, however long it waits for people; milliseconds since the epoch, null where it does not say. */
  readonly wantedBy: number | null;
  /** Where the calling run answers a call of an agent itself: that call, and those around it, the nearest first; null where it answers none. */
  readonly outer: readonly OuterCall[] | null;
}

/** A model that was asked for a turn and gave none, so that the next one was asked. */
export interface PassedOver {
  /** Its provider and its name there, as `provider/name`. */
  readonly name: string;
  /** The code of its fault. */
  readonly code: string;
  /** What it was, in words without a secret. */
  readonly message: string;
}

/** Who asks, as the filter found it in a verified credential: references, no secrets. Nothing that a sender writes gets here. */
export interface Principal {
  /** Who acts, as `user:<id>`. */
  readonly actorId: string;
  /** For which tenant. */
  readonly tenantId: string;
  /** On whose behalf, as `user:<id>`; null: on the actor’s own. */
  readonly subjectId: string | null;
  /** The tool groups the actor may ask for; `*` for all. */
  readonly groups: readonly string[];
  /** The connections the actor may use; `*` for all. */
  readonly connections: readonly string[];
}

/** An earlier run of a session, as the model of a later one is shown it. */
export interface RememberedRun {
  /** The earlier run. */
  readonly requestId: string;
  /** What it was asked, cut where it was long. */
  readonly question: string;
  /** Its answer, or the first sentences of it. */
  readonly answer: string;
  /** When it ended, milliseconds since the epoch. */
  readonly endedAt: number;
}

/** A call as the model wrote it. */
export interface RequestedCall {
  /** The model's id, or one made at the boundary. */
  readonly toolCallId: string;
  /** The name the model wrote. */
  readonly tool: string;
  /** The raw argument text, valid JSON or not. */
  readonly arguments: string;
  /** UTF-8 bytes of the arguments that the model wrote, where they were too large to be kept: then the call is not made, and `arguments` says so in their place. */
  readonly argumentsBytes: number | null;
  /** What the model's provider gets back with the call in the turns after, as JSON text; null where it wants nothing. */
  readonly providerData: string | null;
}

/** What the loop keeps of a run, carried from hop to hop so that no service remembers it. */
export interface Run {
  /** The iteration under way, from 1. */
  readonly iteration: number;
  /** The last iteration allowed. */
  readonly maxIterations: number;
  /** When the filter took the request, milliseconds since the epoch. */
  readonly startedAt: number;
  /** When it must have ended, milliseconds since the epoch. */
  readonly deadline: number;
  /** The state it began in, after the default. */
  readonly initialState: string;
  /** When the present state was entered, milliseconds since the epoch. */
  readonly stateEnteredAt: number;
  /** In order. */
  readonly stateTransitions: readonly StateTransition[];
  /** The groups, after the default. */
  readonly requestedGroups: readonly string[];
  /** What the first iteration was offered, by key. */
  readonly availableTools: readonly string[];
  /** What the group test hid in the first iteration, by key. */
  readonly filteredByGroup: readonly string[];
  /** What the state test alone hid in the first iteration, by key. */
  readonly filteredByState: readonly string[];
  /** Tokens the model read so far. */
  readonly inputTokens: number;
  /** Tokens the model wrote so far. */
  readonly outputTokens: number;
  /** How often each tool ran in this run so far, by id. */
  readonly toolCalls: Readonly<Record<string, number>>;
  /** Who asks; set by the filter alone. */
  readonly principal: Principal | null;
  /** The dead letter, as partition/offset, that this attempt of the run was re-driven from; null for the first attempt. */
  readonly redrive: string | null;
  /** The answer that a tool ended the run with; the filter ends it then. Null while no tool has. */
  readonly answer: string | null;
  /** The call that this run answers, where it runs as an agent tool; null for a run that a caller requested. */
  readonly parent: ParentCall | null;
  /** Of `input_tokens`, those that the provider had in its cache. */
  readonly cachedInputTokens: number;
  /** Of `input_tokens`, those that the provider put into its cache. */
  readonly cacheWriteTokens: number;
  /** What rules on availability are judged by; null while the configuration has none. */
  readonly conditions: RunConditions | null;
  /** The strategy of the run; null where it is `react`, and where an earlier version began the run. */
  readonly strategy: RunStrategy | null;
  /** The session's earlier runs that the model is shown, the oldest first; null where the configuration shows none. */
  readonly memory: readonly RememberedRun[] | null;
  /** Tokens of the definitions of tools that its models were sent so far, as Sluice counts them, those of agents that it called among them; null where none were counted. */
  readonly definitionTokens: number | null;
  /** Tokens of results of calls that they were sent so far, as `definition_tokens`. */
  readonly resultTokens: number | null;
  /** Tokens of all else that they were sent so far, as `definition_tokens`. */
  readonly otherTokens: number | null;
  /** How long the run has waited for people so far, milliseconds, which its `deadline` was put off by; null where it has not, and where an earlier version parked it. */
  readonly parkedMs: number | null;
  /** Those of its tokens that a model with a price of its own took which the run does not ask first: a fallback's, and those of agents that it called; null where there are none, and where an earlier version counted them. */
  readonly otherModels: OtherModels | null;
  /** All tools of the first iteration, where one of its lists has more than 32: then `available_tools`, `filtered_by_group` and `filtered_by_state` name the first 16 of each. In a run without a model, where one has more than 2: then they name none. Null elsewhere. */
  readonly firstTools: FirstTools | null;
}

/** What the rules on availability are judged by, beside the request: as the filter found it, and what the run did so far. */
export interface RunConditions {
  /** How the request came: `http`, `mcp` or `kafka`; empty where that is not known. */
  readonly channel: string;
  /** Of the credential, the claims that rules name. */
  readonly claims: Readonly<Record<string, readonly string[]>>;
  /** The measured values, by measure, as decimal numbers. Empty: the value could not be had, and the rules about it close their tools. */
  readonly loads: Readonly<Record<string, string>>;
  /** Rules that their load closed, by name: between two thresholds what was before stays. */
  readonly held: readonly string[];
  /** How often each tool succeeded in this run, by id. */
  readonly succeeded: Readonly<Record<string, number>>;
  /** When the last call of each tool ended that an approver had let through, by id, milliseconds since the epoch. */
  readonly approved: Readonly<Record<string, number>>;
  /** What was found out beside the records to decide about the iteration, by name; null where nothing was asked. */
  readonly facts: Readonly<Record<string, string>> | null;
}

/** Why a run ended without an answer. */
export interface RunError {
  /** A run error code (docs/errors.md). */
  readonly code: string;
  /** A sentence for the caller. */
  readonly message: string;
}

/** How a run comes to its answer: which strategy says what its turns do, and why that one. */
export interface RunStrategy {
  /** `react`, `plan`, `confidence` or `supervisor`; `auto` while none of these is chosen yet. */
  readonly name: string;
  /** Why this one, where a rule chose it; empty where the request or the configuration names it. */
  readonly reason: string;
  /** Steps that the request brought along: what a strategy goes by are the steps behind these. */
  readonly brought: number;
}

/** How a model is to write its turns, as far as its API has a word for it; what is null is as the configuration has it. */
export interface Sampling {
  /** From 0 to 2. */
  readonly temperature: number | null;
  /** From 0 to 1. */
  readonly topP: number | null;
  /** The most tokens of a turn, if they are fewer than the configuration allows. */
  readonly maxOutputTokens: number | null;
  /** Texts behind which a turn ends, 4 at most; empty means those of the configuration. */
  readonly stop: readonly string[];
  /** A whole number of 32 bits. */
  readonly seed: number | null;
  /** How much the model thinks: `none`, `minimal`, `low`, `medium`, `high` or `xhigh`, and no more than the configuration says. */
  readonly reasoningEffort: string | null;
}

/** An approver's word on calls to come: they run unasked within these bounds, or do so no longer. With `at` it is the executor's word on that. */
export interface StandingApproval {
  /** Names the standing approval, and is the key. */
  readonly standingId: string;
  /** `give` or `revoke`. */
  readonly action: string;
  /** The tool's key or id. */
  readonly tool: string;
  /** What the arguments may be, as JSON in the form of `arguments` of a rule; `{}`, or empty, for whatever the tool takes. */
  readonly bounds: string;
  /** The session whose calls it is for; empty where it is a user's. */
  readonly sessionId: string;
  /** Who the calls are made by or for, as `user:…`; empty where it is a session's. */
  readonly user: string;
  /** Until when it holds, milliseconds since the epoch; within a week. */
  readonly until: number;
  /** How many calls it lets through, 1 to 1,000. */
  readonly calls: number;
  /** The approver, as `user:…`; may be empty where a credential says it. */
  readonly decidedBy: string;
  /** Why. */
  readonly reason: string;
  /** Milliseconds since the epoch. */
  readonly decidedAt: number;
  /** For which tenant, as the executor found it; empty before. */
  readonly tenantId: string;
  /** Why it does not count; null: it was taken. */
  readonly notTaken: string | null;
  /** When an executor judged it, milliseconds since the epoch; null before. */
  readonly at: number | null;
  /** The configuration by whose policy it was judged; empty before. */
  readonly configVersion: string;
}

/** A change of state by a successful tool call. */
export interface StateTransition {
  /** The tool's configuration key. */
  readonly tool: string;
  /** The state before. */
  readonly from: string;
  /** The state after. */
  readonly to: string;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** Content of a step or of a question that stands in the content store: its run, and this name, are the way to it (docs/content.md). */
export interface StepContent {
  /** A keyed hash of the content, 64 hexadecimal digits. */
  readonly hash: string;
  /** Its media type. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** `result`: what an MCP server answered, whole, as JSON text. `image`, `audio` or `resource`: the bytes of one of its blocks. `value`: a result that is larger than a record, whole; the observation is its first page. Of a question, by what the bytes are: `image`, `audio` or `file`. */
  readonly kind: string;
  /** The address of a resource, or the name of a file, cut where it is long; else null. */
  readonly name: string | null;
}

/** What an MCP server asked in the middle of a call, and how it was answered; none of its contents (docs/mcp-hub.md). */
export interface StepQuestion {
  /** `elicitation`, a form for a person; `sampling`, the words of a model; `roots`, the client's folders. */
  readonly kind: string;
  /** The server's name in the configuration. */
  readonly server: string;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** When it was answered or refused, or when the call ended; milliseconds since the epoch. */
  readonly endedAt: number;
  /** `answered`; of a form also `declined` or `cancelled`; `refused`; `unanswered` where the call ended first. */
  readonly outcome: string;
  /** Why it was refused: `off`, `no_person`, `limit`, `invalid`, `unsupported` or `model_unreachable`; else null. */
  readonly reason: string | null;
  /** The caller who answered a form, or the model that answered; null where neither did. */
  readonly by: string | null;
  /** Tokens that the model read. */
  readonly inputTokens: number;
  /** Tokens that it wrote. */
  readonly outputTokens: number;
  /** How many questions it stands for: those behind the sixteenth of a call are counted with one of their kind, outcome and reason. */
  readonly count: number;
}

/** How good the result of one attempt at a plan's step was, and what that was measured by. */
export interface StepScore {
  /** The number of the run's plan, from 1. */
  readonly plan: number;
  /** The number of the plan's step, from 1. */
  readonly step: number;
  /** Which attempt at the step, from 1. */
  readonly attempt: number;
  /** Id of the tool that was called. */
  readonly tool: string;
  /** Which formula: `graph`, `list`, `text`, `mcp`, `change`, `other`, or `failed` where the call gave no result. */
  readonly kind: string;
  /** The numbers that the formula took, by name. */
  readonly inputs: Readonly<Record<string, number>>;
  /** What the formula gives, from 0 to 1. */
  readonly formula: number;
  /** What the model that judges gave, from 0 to 1; null where none was asked. */
  readonly judged: number | null;
  /** The lower of the two. */
  readonly confidence: number;
  /** What the step needs. */
  readonly threshold: number;
  /** `threshold` (it is good enough), `override` (it was let through below its threshold), or empty where it was not accepted. */
  readonly accepted: string;
}

/** What a strategy decided for a turn, from the run as its Toolset has it. */
export interface StrategyDecision {
  /** Which one. */
  readonly strategy: string;
  /** `plan` (the model is asked for a plan), `call` (the next step of the plan is made as it was planned), `arguments` (the model is asked for the arguments of the next step), `answer` (the model is asked for the answer, and no more tools are called); where results are measured `retry` (the model is asked for other arguments of the step), `simplify` (for a simpler call in its place), `judge` (for how good the result is), `override` (the model, or a person, says whether the plan goes on with a result below its threshold) or `partial` (the model is asked for an answer by what there is); or `supervise` (the model hands parts of the question to agents, or answers by what they found). */
  readonly action: string;
  /** Why, as a sentence. */
  readonly reason: string;
  /** The number of the run's plan, from 1; 0 where there is none. */
  readonly plan: number;
  /** The number of the plan's step, from 1; 0 where the turn makes none. */
  readonly step: number;
  /** Which attempt at the step, from 1; 0 where the turn makes none, or where attempts are not counted. */
  readonly attempt: number;
  /** How good the result of the call before was, which the decision rests on; null where nothing was measured. */
  readonly score: StepScore | null;
  /** How sure an answer by what there is can be, from 0 to 1; null where none is asked for, or where nothing was measured. */
  readonly confidence: number | null;
  /** Whether the answer that it asks for is one by what there is: plans failed or were refused, and none is left, or no turn is. False where an earlier version wrote the record. */
  readonly partial: boolean;
}

/** A turn of the model that calls tools: its thought and the calls, in order, to be run one after another. */
export interface ToolCall {
  /** The run. */
  readonly requestId: string;
  /** The key. */
  readonly sessionId: string;
  /** From 1. */
  readonly iteration: number;
  /** Why. */
  readonly thought: string;
  /** In order. */
  readonly calls: readonly RequestedCall[];
  /** The request as it stands now. */
  readonly request: AgentRequest;
  /** The run so far. */
  readonly run: Run;
  /** The groups decided on. */
  readonly groups: readonly string[];
  /** The ids that were offered; empty where `list` has them. */
  readonly offered: readonly string[];
  /** The configuration that granted. */
  readonly configVersion: string;
  /** The filter's signed grant. */
  readonly grant: string | null;
  /** What the Toolset said of it: `none`, `required` or the id of an offered tool; null means `auto`. */
  readonly toolChoice: string | null;
  /** Calls of the turn behind these, which were too many to be kept. */
  readonly omittedCalls: number;
  /** The agent's signature over the whole record but for this; that of the executor's key for calls where `call` is set; null where an earlier version wrote it. */
  readonly recordSignature: string | null;
  /** The model that took the turn, and what it was asked; null where none was, or where an earlier version wrote the record. */
  readonly model: TurnModel | null;
  /** What the run's strategy decided for the turn; null where it is `react`, or where an earlier version wrote the record. */
  readonly decision: StrategyDecision | null;
  /** What the Toolset says of it; null where an earlier version wrote that: then `offered` has all. */
  readonly list: OfferedList | null;
  /** What was decided about the call that its request makes itself, which goes on as a turn since it has to wait; null for every other turn. */
  readonly call: CallDecision | null;
}

/** What the filter decided for one iteration: the eligible tools, why each other one is hidden, and every input of the decision. */
export interface Toolset {
  /** The run. */
  readonly requestId: string;
  /** The key. */
  readonly sessionId: string;
  /** From 1. */
  readonly iteration: number;
  /** The request as it stands now. */
  readonly request: AgentRequest;
  /** The run so far. */
  readonly run: Run;
  /** The state decided on, after the default. */
  readonly state: string;
  /** The groups decided on, after the default. */
  readonly groups: readonly string[];
  /** What was offered, in configuration order, where these are at most 32 tools and no earlier iteration has the same: `list` has all. Descriptions and schemas stand in the configuration, and are empty here. */
  readonly tools: readonly OfferedTool[];
  /** Every other tool, in configuration order, where these are at most 32 and no earlier iteration has the same. */
  readonly hidden: readonly HiddenTool[];
  /** Hidden tools by first reason. */
  readonly hiddenCounts: Readonly<Record<string, number>>;
  /** Requested groups that no configuration knows. */
  readonly unknownGroups: readonly string[];
  /** Empty in every record so far, and no input of the decision: a tool that cannot run is hidden as `unavailable`, which the configuration named by config_version says. Kept for readers of former versions. */
  readonly unavailable: readonly string[];
  /** The configuration decided under. */
  readonly configVersion: string;
  /** Milliseconds since the epoch. */
  readonly decidedAt: number;
  /** The filter’s signature over what it granted for this turn, as compact JWS. */
  readonly grant: string | null;
  /** What the request’s tool_choice comes to in this iteration: `none`, `required` or the id of an offered tool; null means `auto`. */
  readonly toolChoice: string | null;
  /** The filter's signature over the whole record but for this; null where an earlier version wrote it. */
  readonly recordSignature: string | null;
  /** Of `groups`, those that stand in for a requested one without an available tool. */
  readonly fallbackGroups: readonly string[];
  /** What was offered, by indexes; null where an earlier version wrote the record: then `tools` has all, with their texts. */
  readonly list: OfferedList | null;
  /** Every hidden tool, where these are more than 32. */
  readonly hiddenIndexes: readonly HiddenIndexes[];
}

/** Which model took a turn. */
export interface TurnModel {
  /** Its provider and its name there, as `provider/name`. */
  readonly name: string;
  /** SHA-256 over what it was asked, with its name and the full schemas of the tools that it was sent, hexadecimal. */
  readonly promptHash: string;
  /** The models that were asked before it and gave no turn, in order. */
  readonly passedOver: readonly PassedOver[];
  /** The ids of the offered tools that it was shown, where tool discovery left others out; null where it was shown all. */
  readonly shown: readonly string[] | null;
  /** `provider` where the others were sent too, for its provider's own search to find; null where it was sent the shown ones alone. */
  readonly nativeSearch: string | null;
  /** The ids of the tools that it was sent with their short descriptions, in the order sent. */
  readonly deferred: readonly string[];
  /** Tokens of the definitions of its tools, as they were sent; null where they were not counted. */
  readonly definitionTokens: number | null;
  /** Tokens of what calls had given before, as `definition_tokens`. */
  readonly resultTokens: number | null;
  /** Tokens of instructions, question, thoughts and arguments, as `definition_tokens`. */
  readonly otherTokens: number | null;
  /** What counted the three: with `~` before it where the model has another one and they are approximations. */
  readonly tokenizer: string | null;
  /** The message it got with its second request, since it had not called what the run's strategy wants; null where its first reply was the turn. */
  readonly askedAgain: string | null;
  /** What stood in each budget with a span before it was asked; empty where none is configured. */
  readonly budgets: readonly BudgetState[];
}

/** The records by the names that they have in schemas/. */
export interface RecordTypes {
  readonly AccessDenial: AccessDenial;
  readonly AgentProgress: AgentProgress;
  readonly AgentRequest: AgentRequest;
  readonly AgentResponse: AgentResponse;
  readonly AgentRun: AgentRun;
  readonly AgentStep: AgentStep;
  readonly AgentStepResult: AgentStepResult;
  readonly Approval: Approval;
  readonly ApprovalDecided: ApprovalDecided;
  readonly ApprovalEscalated: ApprovalEscalated;
  readonly ApprovalOutcome: ApprovalOutcome;
  readonly ApprovalRequested: ApprovalRequested;
  readonly AskedQuestion: AskedQuestion;
  readonly AskingRule: AskingRule;
  readonly AuditRecord: AuditRecord;
  readonly BudgetState: BudgetState;
  readonly CallDecision: CallDecision;
  readonly Cancellation: Cancellation;
  readonly CancellationOutcome: CancellationOutcome;
  readonly ConfigVersion: ConfigVersion;
  readonly ConversationMessage: ConversationMessage;
  readonly DeadLetter: DeadLetter;
  readonly DirectCall: DirectCall;
  readonly DiscoveryRecord: DiscoveryRecord;
  readonly DiscoverySearch: DiscoverySearch;
  readonly DiscoveryShadow: DiscoveryShadow;
  readonly EditedArguments: EditedArguments;
  readonly FanOut: FanOut;
  readonly FirstTools: FirstTools;
  readonly HiddenIndexes: HiddenIndexes;
  readonly HiddenTool: HiddenTool;
  readonly IncompleteAnswer: IncompleteAnswer;
  readonly Notification: Notification;
  readonly OfferedList: OfferedList;
  readonly OfferedTool: OfferedTool;
  readonly OtherModels: OtherModels;
  readonly OuterCall: OuterCall;
  readonly ParentCall: ParentCall;
  readonly PassedOver: PassedOver;
  readonly Principal: Principal;
  readonly RememberedRun: RememberedRun;
  readonly RequestedCall: RequestedCall;
  readonly Run: Run;
  readonly RunConditions: RunConditions;
  readonly RunError: RunError;
  readonly RunStrategy: RunStrategy;
  readonly Sampling: Sampling;
  readonly StandingApproval: StandingApproval;
  readonly StateTransition: StateTransition;
  readonly StepContent: StepContent;
  readonly StepQuestion: StepQuestion;
  readonly StepScore: StepScore;
  readonly StrategyDecision: StrategyDecision;
  readonly ToolCall: ToolCall;
  readonly Toolset: Toolset;
  readonly TurnModel: TurnModel;
}
