declare module 'worklet:*' {
  /** The address of the file, relative to the one that imports it. */
  const url: string;
  export default url;
}
