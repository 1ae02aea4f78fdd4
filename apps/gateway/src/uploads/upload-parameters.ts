import { longestContentName } from '@sluice/run';

/** The parameters of `POST /v1/uploads`. */
export const uploadParameters = {
  name: `The file’s name, at most ${longestContentName} characters; a model reads it.`,
} as const;
