import type { Operation } from '../../operation.js';
import { readDescriptionExample, readPageExample } from './examples.js';

/** The description of the routes. */
export const descriptionOperations: readonly Operation[] = [
  {
    ...{
      id: 'readDescription',
      client: null,
      method: 'get',
      path: '/openapi.json',
      tag: 'Description',
      who: 'anyone',
      isTagged: true,
    },
    summary: 'Read this description',
    answers: { 200: { meaning: 'OpenAPI 3.1.', others: { 'application/json': 'This description.' } } },
    example: readDescriptionExample,
    refusals: [],
  },
  {
    ...{
      id: 'readPage',
      client: null,
      method: 'get',
      path: '/docs',
      tag: 'Description',
      who: 'anyone',
      isTagged: true,
    },
    summary: 'Read this description as a page',
    answers: { 200: { meaning: 'The page.', others: { 'text/html': 'The page.' } } },
    example: readPageExample,
    refusals: [],
  },
];
