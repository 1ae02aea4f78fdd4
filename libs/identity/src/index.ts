export * from './keys/key-set.js';
export * from './keys/read-key-set.js';
export * from './keys/signatures.js';
export { readingUnknown, unverified } from './keys/unverified.js';
export { createVerifier } from './keys/verifier.js';
export * from './credentials/authenticator.js';
export { keyFileProblem } from './credentials/key-source.js';
