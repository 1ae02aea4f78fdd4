import 'reflect-metadata';
import { main } from '@sluice/service';
import { startAudit } from './audit.module.js';

main(startAudit);
