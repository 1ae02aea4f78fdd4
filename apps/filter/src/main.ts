import 'reflect-metadata';
import { main } from '@sluice/service';
import { startFilter } from './filter.module.js';

main(startFilter);
