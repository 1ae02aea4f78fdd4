export { OpenApi } from './api.js';
export { operationsOf } from './operations.js';
export { requestFor } from './request.js';
