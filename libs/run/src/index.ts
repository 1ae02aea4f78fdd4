export {
  afterAgents,
  agentBeginning,
  agentRunIdOf,
  agentRunOf,
  handedBack,
  isAgentRunId,
  isCallOf,
  mayHandOver,
  modelsOfRun,
} from './agent-runs.js';
export type { Handing } from './agent-runs.js';
export {
  answer,
  answerInvalid,
  asWritten,
  cancelledTurn,
  outOfTime,
  outOfTimeQuarantined,
  spanBudgetUsed,
  toolCall,
  withTokens,
} from './agent.js';
export { othersOfTurn } from './other-models.js';
export { boundedTurn } from './bounded-turn.js';
export { callIdOf, callKeyOf, cancelledBefore, longestName, parseArguments } from './calls.js';
export {
  agentOf,
  beginningFacts,
  channelHeader,
  doorHeader,
  doorOf,
  measuredFor,
  notRecorded,
  originOf,
  recordedConditions,
  ruleFactsOf,
  withConditions,
} from './conditions.js';
export type { Measured, Origin } from './conditions.js';
export { budgetPartsOf, reserveModelCall } from './model-budgets.js';
export type { BudgetRefusal, BudgetParts, ReservedModelCall } from './model-budgets.js';
export { pastCallerOf, pastOfCaller, pastOfRun, readPast } from './past.js';
export { judgeConnection } from './connections.js';
export { decideTools, fallbacksFor, withFallbacks } from './decide-tools.js';
export { hashedResult } from './digest.js';
export { directTurn } from './direct-call.js';
export { decideCall } from './one-call/decide.js';
export { OwnCalls } from './one-call/kept.js';
export type { KeptDecision, KeptWait } from './one-call/kept.js';
export { overdueCall, startOfCall } from './one-call/overdue.js';
export { callResult, endOfCall, stepAtEnd } from './one-call/result.js';
export { bareToolset, ownCallIn, toolsetOfCall } from './one-call/toolset.js';
export type { OfOwnCall } from './one-call/toolset.js';
export { topicOfRequest } from './one-call/topic.js';
export type { StepBounds } from './history.js';
export {
  beginning,
  judgeRequest,
  decideIteration,
  denial,
  isOverdue,
  requestProblem,
  returnedTurn,
  acceptedRequest,
} from './filter.js';
export type { Iteration, RunIds } from './filter.js';
export { loadContent } from './given/load.js';
export { planContent } from './given/plan.js';
export { contentTokens } from './given/tokens.js';
export { historyProblem } from './history.js';
export { requestIdOf, tenantOf } from './ids.js';
export { runCosts } from './run-costs.js';
export { RunsWithin } from './runs-within.js';
export type { AgentCall } from './runs-within.js';
export { readLoad, reportLoad } from './load-reports.js';
export type { CallLoad } from './load-reports.js';
export { recall } from './memory.js';
export { claimUploads, keepFile, nameParts, QuestionContentError, uploadExpiry, uploadsOf } from './uploads/keep.js';
export type { QuestionPart } from './uploads/keep.js';
export { conversationLimits } from './conversation.js';
export { longestContentName, mostQuestionContent } from './uploads/names.js';
export { modelRequestOf, searchedRequestOf, turnModel, withReminder } from './model-request.js';
export type { CountedTokens, SearchedRequest } from './model-request.js';
export { readOpenRuns, reportOpenRuns } from './open-run-reports.js';
export { deliveryIn, hookCredential, isHookCredential } from './hooks/credential.js';
export type { CarriedDelivery } from './hooks/credential.js';
export { hookRequest } from './hooks/render.js';
export { isOwnRequestId, ownRequestId } from './claims/own-request-id.js';
export { isScheduleCredential, ownPrincipal, scheduleCredential, scheduleOf } from './schedules/credential.js';
export type { ScheduledTopic } from './schedules/credential.js';
export {
  correctedState,
  jitterOf,
  newState,
  pausedBy,
  resumed,
  runNow,
  scheduledRequestId,
  scheduleEntries,
  scheduleSession,
  withDue,
  withoutHead,
} from './schedules/plan.js';
export type { QueuedStart, ScheduleState, Skipped, StartedRun } from './schedules/plan.js';
export { scheduleView } from './schedules/view.js';
export { ScheduleStates } from './schedules/states.js';
export type { OpenRunReport } from './open-run-reports.js';
export type { RunParts } from './parts.js';
export { turnBudgetEnd } from './prompt-bytes.js';
export { promptTokensOf } from './prompt-tokens.js';
export { boundedLabel, otherLabel } from './reporting.js';
export { hasRoom, noRoomForResult, notMade, refusedCall } from './room.js';
export type { NotMade } from './room.js';
export { mostNamed, RunTools } from './run-tools.js';
export { senderName } from './sender.js';
export { readServerReports, reportServers } from './server-reports.js';
export type { ChangedTool, ServerReport } from './server-reports.js';
export { afterStep, stepOf, stepResult, turnAfter } from './steps.js';
export type { TurnSoFar } from './steps.js';
export { firstKeys, namingTools, offeredIds, offeredWithSchema, withFirstNames, withTools } from './tool-list.js';
export type { OfferedBefore } from './tool-list.js';
export { toolset } from './toolset.js';
export { budgetsUsed, closedIn, verdictsOf } from './verdicts.js';
export type { HiddenPart } from './verdicts.js';
export { ClientCalls, isClientCall, isClientCallId } from './client-calls.js';
export type { ClientCall, ClientResult, ClientWait } from './client-calls.js';
export { CallerForms, isCallerForm } from './questions.js';
export type { CallerForm, ResumedWith } from './questions.js';
export { noLongerWaiting, noteWaiting, waitingOf } from './waiting.js';
export type { Waiting } from './waiting.js';
export { approvalView, shownSteps } from './approvals/approval-view.js';
export type { MayRead, ShownStep } from './approvals/approval-view.js';
export { undecidedOf, waitsAt } from './approvals/asked-ahead.js';
export { approvalRequestFor } from './approvals/asked-for.js';
export { isEditSound } from './approvals/edit.js';
export { judgeAtDoor } from './approvals/judge-at-door.js';
export { CountingApprovals } from './approvals/counting.js';
export { approvalAt, isClosing, OpenApprovals, turnAt } from './approvals/open.js';
export type { ApprovalPosition, Counts } from './approvals/open.js';
export { outcomeOfCall } from './approvals/outcome-of-call.js';
export { parkedTurn } from './approvals/parked-turn.js';
export { toolNames } from './approvals/tool-names.js';
export type { ToolName } from './approvals/tool-names.js';
export {
  afterApproval,
  answeredMeanwhile,
  approvalIdOf,
  approvalRequest,
  cancelledMeanwhile,
  formGone,
  needlessMeanwhile,
  runsAtExpiry,
  longestWaitMs,
  waitMs,
  wantedBy,
} from './approvals/request.js';
export type { Asking, AcceptedDecision, LoggedTurn } from './approvals/request.js';
export { AgentRunClaims } from './claims/agent-runs.js';
export { deadlineKept, keepDeadline } from './claims/deadlines.js';
export type { CallPosition, JoinedFanOut } from './claims/agent-runs.js';
export { acceptedDecision, ApprovalClaims } from './claims/approvals.js';
export type { ClaimedDecision } from './claims/approvals.js';
export { StandingApprovals } from './claims/standing.js';
export { attemptKept, keepAttempt } from './claims/attempts.js';
export type { Attempt } from './claims/attempts.js';
export {
  ledByCall,
  ledByRequest,
  ledBySteps,
  ledByToolset,
  ledByTurn,
  wasAnswered,
  wasHandled,
} from './claims/came-again.js';
export { cancelOf, cancelForCaller, cancelRun, longestCancelReason, notCancelledReasons } from './claims/cancel.js';
export type { Cancelled, NotCancelled } from './claims/cancel.js';
export { claimEnd, enderOfRun, hasEnded, quarantinedAt } from './claims/end-once.js';
export { requestPosition, claimingRequest } from './claims/claiming-request.js';
export { claimedName, keepSender, runOfEnd, runOfRecord } from './claims/run-names.js';
export type { NamedRun } from './claims/run-names.js';
export { isTurnClaimed, requestOwner, claimRequest, claimTurn, modelCallName } from './claims/requests-and-turns.js';
export { applyConfiguration, configurationRecord, configurationRecords } from './configuration/apply.js';
export type { Applying } from './configuration/apply.js';
export { clientSchemasProblem, clientToolLimits, clientToolsProblem } from './client-tools.js';
export { compiledFrom, Configurations, loadedFor } from './configuration/configurations.js';
export type { Loaded } from './configuration/configurations.js';
export { entriesSince, EntryTimes } from './configuration/entry-times.js';
export { configurationsOn, inForceOf, isApplied, judgedConfigurations, refusalAt } from './configuration/log.js';
export type { AppliedConfiguration, JudgedConfiguration } from './configuration/log.js';
export { ConfigurationRecords } from './configuration/records.js';
export { explainCaller } from './explain-caller.js';
export type { ExplainedCaller } from './explain-caller.js';
export { endDeadRun, reportDeadLetter } from './ends/dead-run.js';
export { endOfDead, mayBeOfDead } from './ends/end-of-dead.js';
export { endedBy, endRun, endRunWith } from './ends/end-run.js';
export type { EndedBy } from './ends/end-run.js';
export { errorResponse } from './ends/responses.js';
export { suretyOf } from './ends/surety.js';
export { hideSecrets, letterJson } from './redrive/letter-json.js';
export type { ShownLetter } from './redrive/letter-json.js';
export { letterAt, letterPosition, readLetters } from './redrive/letters.js';
export type { Content, Letter, LetterFilter } from './redrive/letters.js';
export type { Permit } from './redrive/permit.js';
export { planRedrive } from './redrive/plan.js';
export type { Plan, PlanFacts } from './redrive/plan.js';
export { asksForCredentials, redrive, redriveFacts, redriveOf } from './redrive/redrive.js';
export { asDeadLettered, redrivenBefore, redrivenFrom, resumedRun, verified } from './redrive/take.js';
export type { Redriven } from './redrive/take.js';
export { continuationClaims, judgeContinuation } from './signing/continuation-claims.js';
export type { Continuation } from './signing/continuation-claims.js';
export { endSignature, signEnd, verifyEnd } from './signing/ends.js';
export type { EndSignature } from './signing/ends.js';
export { GenuineEnds } from './signing/genuine-ends.js';
export { notInHistories } from './signing/run-digest.js';
export { grantClaims, grantLifeMs, isReturned, judgeGrant } from './signing/grant-claims.js';
export type { GrantedTurn } from './signing/grant-claims.js';
export {
  signContinuation,
  signGrant,
  signReturned,
  signCall,
  signCallTurn,
  signTurn,
  turnOf,
  verifyContinuation,
  verifyGrant,
  verifyRecord,
  verifyReturned,
} from './signing/grants.js';
export { isSignedBy, loopSigners, signatureOver, tokenWithKey } from './signing/signed-record.js';
export type { SignedTopic } from './signing/signed-record.js';
export { beforeMember } from './strategy/fan-out.js';
export type { AssumedTurn } from './strategy/fan-out.js';
export type { Move } from './strategy/move.js';
export { keptTo, nextMove } from './strategy/next-move.js';
export { tryCall } from './turn/try-call.js';
export type { TriedCall } from './turn/try-call.js';
export { assumedBefore, callsAhead, peekAtCall } from './turn/look-ahead.js';
export type { CallAhead } from './turn/look-ahead.js';
export { begunCall, editOf, invocationOf, resultBytesOf, runCall, resumeCall } from './turn/run-call.js';
export type { CallInTurn, CallWorld, ParkedCall, StandingFacts } from './turn/call-in-turn.js';
export type { EndOfCall } from './turn/run-call.js';
export { endedStep, runTurn } from './turn/run-turn.js';
export type { CallOutcome, NextCall, TurnEnd } from './turn/run-turn.js';
