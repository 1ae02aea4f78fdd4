import { contractWith } from './contract-on.js';

contractWith(1);
