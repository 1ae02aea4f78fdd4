export * from './types.js';
export * from './wires.js';
export type { Address, StreamEncoder, TurnHead } from './codec.js';
export { RequestFault } from './codecs/request-reader.js';
export { noteMeanings, WireFault, type WireFaultKind } from './diagnosis.js';
export { largestTurn, type StreamDecoder, type TurnListener } from './stream/decoder.js';
