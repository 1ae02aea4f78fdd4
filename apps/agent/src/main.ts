import 'reflect-metadata';
import { main } from '@sluice/service';
import { serveAgent } from './agent.module.js';

main(serveAgent);
