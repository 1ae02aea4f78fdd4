import { tampering } from './tampering-recorded.js';

/** Each record: `npm run test:wide -- tampering`. */
tampering(9);
