import { contractWith } from '../../../libs/bus/test/kafka/contract-on.js';

contractWith(1, { histories: 200, historiesMs: 240_000 });
