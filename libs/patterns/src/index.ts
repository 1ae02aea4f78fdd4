export { inTime } from './in-time.js';
export { matchesInTime, RegexTimeBudget } from './regex-time-budget.js';
export { OutOfTime, searchPattern } from './search-pattern.js';
