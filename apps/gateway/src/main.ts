import 'reflect-metadata';
import { main } from '@sluice/service';
import { startGateway } from './gateway.module.js';

main(startGateway);
