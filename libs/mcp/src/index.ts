export { acceptedBy } from './accepted.js';
export { joinAnswer, splitAnswer, stepContent } from './answers.js';
export { blocksIn } from './blocks.js';
export {
  callDigest,
  callerRequest,
  callRequest,
  formerRequestIdOf,
  idempotencyKey,
  idempotencyKeyOf,
  requestIdOf,
} from './call-request.js';
export { argumentsKind, argumentsRefusal, isCall, isInitialize, messageOfClient, takesLong } from './client-message.js';
export { bounded } from './bounded.js';
export { completed, listedValues } from './completions.js';
export { answerEventId, nothingHeard, parseEventId, standingEventId } from './event-id.js';
export type { EventPosition, HeardAnswer } from './event-id.js';
export { saidError, withGroups } from './kept-back.js';
export {
  eachOnce,
  hasResource,
  listedPrompt,
  passedOnIn,
  passedOnTo,
  offersSubscriptions,
  passesOn,
  promptArguments,
  promptIn,
  saidIn,
} from './passed-on.js';
export { emptyOutbox, mostSubscriptions, posted, subscribed, unheard, unsubscribed } from './outbox.js';
export type { Outbox } from './outbox.js';
export { answerAsGiven, categoryOf, errorCategories, pendingResult, refusal, resultOf } from './results.js';
export type { CallResult } from './results.js';
export { annotationsOf, servedNames, servedTool } from './served-tool.js';
export type { ServedTool } from './served-tool.js';
export { sessionKey, stateAfter } from './session-state.js';
export { readCredential, writeCredential } from './state-credential.js';
export {
  cancelledText,
  endOfRun,
  endOfStep,
  extensionTask,
  isTaskCall,
  mayBeTask,
  relatedTo,
  resultOfTask,
  servedTask,
  tasksExtension,
  ttlOf,
} from './tasks.js';
export type { ExtensionTask, ServedTask, TaskEnd, TaskState } from './tasks.js';
export { listedTools, namesIn, offeredTo, pageOf } from './tool-list.js';
export type { Asking } from './tool-list.js';
export { toolOfPage, toolPageTemplate, toolPageUri } from './tool-page.js';
