import { authorizers } from '@sluice/authorization';

/** Who decides what is permitted under a recorded configuration. */
export const authorizerOf = authorizers();
