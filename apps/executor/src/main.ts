import 'reflect-metadata';
import { main } from '@sluice/service';
import { serveExecutor } from './executor.module.js';

main(serveExecutor);
