export { authorizers } from './authorizers.js';
export { createAuthorizer, isDecidedHere } from './create-authorizer.js';
export { cedarClaims } from './cedar/declared.js';
export { cedarProblems } from './cedar/problems.js';
