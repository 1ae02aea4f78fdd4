import { parentPort, workerData } from 'node:worker_threads';
import type { Incoming } from '@sluice/bus';
import { listsHere } from './lists.js';

if (parentPort === null) throw new Error('This is a thread of the seeding script: npm run bench -- seed');
const port = parentPort;
const lists = await listsHere(workerData as string);
let writing = Promise.resolve();
port.on('message', (messages: readonly Incoming[] | null) => {
  writing = writing.then(async () => {
    if (messages === null) {
      await lists.close();
      return port.close();
    }
    await lists.apply(messages);
    port.postMessage('written');
  });
});
