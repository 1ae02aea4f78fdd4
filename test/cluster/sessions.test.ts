import { manySessions } from './many-sessions.js';

/** A thousand are `npm run test:wide -- sessions`. */
manySessions(150);
