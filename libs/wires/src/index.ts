export type { EncodeOptions, RoundScreening } from './codec.js';
export { errorNames, errorSentence, noteMeanings, WireFault } from './diagnosis.js';
export { editRequest, toolTexts } from './edit-request.js';
export { answeredSearches, hasNativeSearch, withBeta } from './native-search.js';
export type { AnsweredSearch, NativeSearch, NoNativeSearch } from './native-search.js';
export { detailKeys, detailsOf, isBound, partKeys, thoughtKeys } from './part-keys.js';
export type { PartKey } from './part-keys.js';
export { changeAnswers, hasTools, pastAnswers } from './past-answers.js';
export type { AnswerChange, PastAnswer, Round } from './past-answers.js';
export { noUsage } from './types.js';
export type {
  CallPart,
  DecodedRequest,
  DecodedTurn,
  Echo,
  Finish,
  MediaPart,
  Message,
  MessagePart,
  OtherPart,
  ResultPart,
  Turn,
  TurnPart,
  Usage,
  WireCall,
  WireName,
  WireRequest,
  WireTool,
} from './types.js';
export {
  createSplitter,
  decodeRequest,
  decodeStream,
  decodeTurn,
  encodeRequest,
  encodeTool,
  encodeStream,
  encodeTurn,
  errorFrame,
  keepsAnswers,
  nativeSearchOf,
  pastThoughts,
  roundScreening,
  streamContentType,
  tokenCountOf,
  translateRequest,
  wireNames,
  wireOfParts,
} from './wires.js';
export { RequestFault } from './codecs/request-reader.js';
export { isObjectText } from './json/json-text.js';
export { readBody } from './json/body.js';
export type { Body } from './json/body.js';
export { applyEdits } from './json/edit.js';
export { JsonSpan } from './json/span.js';
export type { StreamFailure } from './screen/failure.js';
export type { Screening } from './screen/screen.js';
export { largestTurn } from './stream/decoder.js';
export type { StreamDecoder } from './stream/decoder.js';
