import type { World } from '../parts/world.ts';
import type { Random } from '../random.ts';

/**
 * Breaks something while the work goes on. When it is over everything is there again that should be there; how it all
 * ended is judged then.
 */
export type Inflict = (world: World, random: Random) => Promise<void>;
