export { printable } from '@sluice/core';
