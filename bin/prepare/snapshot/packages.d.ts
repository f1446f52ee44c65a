/** The Node that runs a bundle: that of its snapshot in place of the project's. */
export declare function nodeFor(root: string, bundle: string, node: string): string;
