/** What is said about a code. */
export interface Entry {
  readonly message: string;
  readonly remedy: string;
  readonly status: number;
  readonly retryable: boolean;
}
