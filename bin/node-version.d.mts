export declare const leastNode: string;
export declare const leastNodeOfClone: string;
export declare const installNode: string;
export declare function isAtLeast(version: string, least: string): boolean;
export declare function withNode(least: string, remedy: string, start: () => unknown): void;
