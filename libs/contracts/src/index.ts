export type * from '@sluice/records';
export * as make from './generated/make.js';
export {
  listChangedIn,
  listChangedRecord,
  noticeOf,
  noticeRecord,
  resourceUpdatedIn,
  resourceUpdatedRecord,
  serversKey,
} from './call-notices.js';
export { CanonicalForm, recordContent } from './canonical.js';
export { asWrittenWith } from './as-written.js';
export { createCodec, maxPayloadBytes, payloadBytes } from './codec.js';
export type { Codec, SchemaRegistry } from './codec.js';
export { ConfigurationContents, missingParts } from './configurations/contents.js';
export type { WrittenConfigurations } from './configurations/contents.js';
export { NamedTools } from './configurations/named-tools.js';
export { inParts, isPart, isWholePart } from './configurations/parts.js';
export { sha256 } from './digest.js';
export { passedOnHeader, redriveHeader } from './headers.js';
export { incompatible } from './incompatible.js';
export type { RegisteredSchema } from './incompatible.js';
export { recordFromJson, recordToJson, ShapeError, wireFields } from './json.js';
export { positionOf } from './position.js';
export { longestId, requestIds } from './request-ids.js';
export { madeOfPart, madeOfRecord, shareRecord } from './shared-records.js';
export { camelCase, recordSchema, selfContained, snakeCase } from './schema.js';
export type { AvroField, AvroType } from './schema.js';
export { access, consumersUnder, groupOfSubscription, notifiedTopics } from './topics/access.js';
export type { Access } from './topics/access.js';
export { offeredWords } from './topics/offered-words.js';
export { gistOf, principalOf, runIdsOf, tenantOf } from './topics/facts.js';
export { loopServices, roles, services } from './topics/roles.js';
export type { Role, ServiceName } from './topics/roles.js';
export { howToDecide } from './topics/run-topics.js';
export {
  allTopics,
  auditedTopics,
  handledTopics,
  isRequest,
  isRequestTopic,
  isSigned,
  isTopic,
  recordEntryKinds,
  recordNames,
  runTopics,
  storyTopics,
  subjectOf,
  topicEntry,
  topics,
  verifierOf,
} from './topics/topics.js';
export type { CredentialTopic, RecordEntryKind, RecordOf, RequestTopic, Topic } from './topics/topics.js';
export { mostWatched, watchedIn, watchedKey, watchedPrefix } from './watched-resources.js';
export type { WatchedResource } from './watched-resources.js';
