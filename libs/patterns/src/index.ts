export { expandedSize } from './expanded-size.js';
export { matchesInTime, RegexTimeBudget } from './regex-time-budget.js';
export { largestProgram, longestPattern, OutOfTime, searchPattern, type SearchPattern } from './search-pattern.js';
