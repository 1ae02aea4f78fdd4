export { authorizers } from './authorizers.js';
export { createAuthorizer } from './create-authorizer.js';
export { cedarProblems } from './cedar/problems.js';
