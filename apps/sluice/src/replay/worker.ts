// Runs in a thread of its own, beside the one that reads the log.
import { parentPort, workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { serveReplay } from '@sluice/replay';
import { authorizerOf } from './authorizer-of.js';
import type { Given } from './threads.js';
import { verifierFor } from './verifier-for.js';

const { job, ...keys } = workerData as Given;
await serveReplay(parentPort as MessagePort, job, { verifier: verifierFor(keys), authorizerOf });
