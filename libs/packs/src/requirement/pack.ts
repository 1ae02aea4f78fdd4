import { writeRequirementToCache } from './tools/write-requirement-to-cache.js';

/** Requirements on their way to validation (D-T27). */
export const cacheTools = [writeRequirementToCache] as const;
