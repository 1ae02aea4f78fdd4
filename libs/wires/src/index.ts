export type { EncodeOptions } from './codec.js';
export { errorNames, errorSentence, noteMeanings, WireFault } from './diagnosis.js';
export { editRequest, toolTexts } from './edit-request.js';
export { answeredSearches, hasNativeSearch, nativeSearchOf, withBeta } from './native-search.js';
export type { AnsweredSearch, NativeSearch, NoNativeSearch } from './native-search.js';
export { detailKeys, detailsOf, isBound, partKeys, thoughtKeys } from './part-keys.js';
export type { PartKey } from './part-keys.js';
export { changeAnswers, hasTools, pastAnswers } from './past-answers.js';
export type { AnswerChange, PastAnswer, Round } from './past-answers.js';
export { noUsage, wireNames } from './types.js';
export type {
  CallPart,
  DecodedRequest,
  DecodedTurn,
  Echo,
  Finish,
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
  decodeRequest,
  decodeStream,
  decodeTurn,
  encodeRequest,
  encodeTool,
  encodeStream,
  encodeTurn,
  streamContentType,
  translateRequest,
  wireOfParts,
} from './wires.js';
export { RequestFault } from './codecs/request-reader.js';
export { isObjectText } from './json/json-text.js';
export { JsonSpan } from './json/span.js';
export { errorFrame } from './screen/error-frame.js';
export type { StreamFailure } from './screen/error-frame.js';
export { createSplitter } from './screen/events.js';
export type { Screening } from './screen/screen.js';
export { createScreen } from './screen/screens.js';
export { mergeAnswers } from './screen/whole.js';
export { largestTurn } from './stream/decoder.js';
export type { StreamDecoder } from './stream/decoder.js';
