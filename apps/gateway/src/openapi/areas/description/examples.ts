import type { Example } from '../../example.js';

export const readDescriptionExample: Example = {
  answers: { 200: { openapi: '3.1.0', info: { title: 'Sluice', version: '1' } } },
};

export const readPageExample: Example = { answers: {} };
