export * from './types.js';
export * from './wires.js';
export type { Address, EncodeOptions, StreamEncoder, TurnHead } from './codec.js';
export { RequestFault } from './codecs/request-reader.js';
export { errorNames, errorSentence, noteMeanings, WireFault, type WireFaultKind } from './diagnosis.js';
export { largestTurn, type StreamDecoder, type TurnListener } from './stream/decoder.js';
export { isObjectText } from './json/json-text.js';
