export { SluiceBus } from './bus.js';
export type { BusOptions, Published } from './bus.js';
export type { NewRequest, Received, Records, Topic } from './records.js';
export type * from '../generated/records.js';
