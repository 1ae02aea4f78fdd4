// Runs in a thread of its own, beside the one that reads the log.
import { parentPort, workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { createVerifier, unverified } from '@sluice/identity';
import { serveReplay } from '@sluice/replay';
import { authorizerOf } from './authorizer-of.js';
import type { Given } from './threads.js';

const { job, keys } = workerData as Given;
const verifier = keys === null ? unverified : createVerifier(keys);
await serveReplay(parentPort as MessagePort, job, { verifier, authorizerOf });
