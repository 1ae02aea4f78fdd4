import { manySessions } from '../../cluster/many-sessions.js';

manySessions(1_000);
