export { expandedSize } from './expanded-size.js';
export { matchesInTime, RegexTimeBudget } from './regex-time-budget.js';
export { largestProgram, longestPattern, OutOfTime, searchPattern } from './search-pattern.js';
