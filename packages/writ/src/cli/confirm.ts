/** A question that only yes answers: an empty line, the end of the input and Ctrl-C are a no. */
import { createInterface } from 'node:readline';
import { onScreen } from './output.js';

export function answersYes(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  const prompt = createInterface({ input, output });
  return new Promise((resolve) => {
    prompt.on('close', () => resolve(false));
    prompt.question(onScreen(`${question} [y/N] `), (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()));
      prompt.close();
    });
  });
}
