/**
 * The forms in which a value may turn up in a text: as it is, and as programs commonly write it.
 */

/** Shorter than this, a value is found in ordinary texts, and cannot be kept out of them. */
export const shortest = 8;

export function formsOf(value: string): Set<string> {
  const forms = new Set<string>();
  const add = (form: string) => {
    if (form.length >= shortest) forms.add(form);
  };
  add(value);
  // In JSON, in JSON that is a text in JSON, and once more: results and inputs are stored as JSON
  // themselves.
  for (let depth = 1, escaped = value; depth <= 4; depth++) {
    escaped = inJson(escaped);
    add(escaped);
  }
  // In an address or a form; some write the hexadecimal digits small.
  const encoded = encodeURIComponent(value.toWellFormed());
  for (const each of [encoded, encoded.replaceAll('%20', '+')]) {
    // What URLSearchParams encodes and encodeURIComponent does not.
    const strict = each.replace(
      /[!'()~]/g,
      (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
    );
    for (const form of [each, strict]) {
      add(form);
      add(form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
    }
  }
  const bytes = Buffer.from(value, 'utf8');
  add(bytes.toString('hex'));
  add(bytes.toString('hex').toUpperCase());
  for (const form of [bytes.toString('base64'), ...base64Cores(bytes)]) {
    add(form);
    add(form.replace(/=+$/, ''));
    add(form.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''));
  }
  // A key of several lines is often shown by one of them. What frames it is no secret.
  if (value.includes('\n'))
    for (const line of value.split(/\r?\n/))
      if (line.length >= 16 && !line.startsWith('-----')) add(line);
  return forms;
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/**
 * What base64 makes of the bytes when something stands before and behind them, as in the
 * `user:password` of HTTP: three bytes become four characters, so there are three ways for the
 * bytes to fall, and in each the characters that hold bits of the bytes alone are always the same.
 */
function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const from = Math.ceil((before * 8) / 6);
    const upto = Math.floor(((before + bytes.length) * 8) / 6);
    return text.slice(from, upto);
  });
}
