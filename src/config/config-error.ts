/** Every wrong setting of a start, in one error. */
export class ConfigError extends Error {
  readonly mistakes: string[];
  constructor(mistakes: string[]) {
    super(`The settings are wrong:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`);
    this.name = 'ConfigError';
    this.mistakes = mistakes;
  }
}
