/**
 * Finds what looks like a secret in JSON that will be stored and shown. It goes by names and by
 * forms that are known; it is a net under people's attention and no replacement for it. What it
 * finds it names by its place, never by its value.
 */
import { parseRef, refIn, secretNameIn } from './refs.js';

/**
 * How a name ends: dbPassword, api-key, AWS_SECRET_ACCESS_KEY. A secretName or tokenType is none.
 */
const secretNames =
  /(?:passwords?|passwd|passphrases?|passcodes?|secrets?|token|api_?keys?|private_?keys?|access_?keys?|signing_?keys?|encryption_?keys?|credentials?)$|(?:^|_)(?:pwd|authorization)$/;

// Repetitions in which another match may begin are bounded, or a lookbehind keeps it from beginning
// there: time must not grow with a text's square.
const secretForms: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/, 'a private key'],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/, 'a key of AWS'],
  [/(?:^|\W)Bearer\s{1,5}[\w.~+/=-]{8}/, 'a bearer token'],
  [
    /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s:/@]{0,200}:[^\s/@]{1,200}@/i,
    'a connection string with a password',
  ],
  [/\b(?:password|pwd)\s{0,5}=\s{0,5}[^\s;&$<{*]/i, 'a connection string with a password'],
  [/\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{20}/, 'a connection string with a key'],
  [/(?:^|\W)Basic\s{1,5}[A-Za-z0-9+/]{6,200}={1,2}/, 'a user and password of HTTP'],
  [/\bgh[pousr]_[A-Za-z0-9]{36}|\bgithub_pat_[A-Za-z0-9_]{22}/, 'a token of GitHub'],
  [/\bglpat-[\w-]{20}/, 'a token of GitLab'],
  [/\bnpm_[A-Za-z0-9]{36}/, 'a token of npm'],
  [/\bAIza[\w-]{35}/, 'a key of Google'],
  [/\bSG\.[\w-]{16,64}\.[\w-]{16}/, 'a key of SendGrid'],
  [/\bsk-(?:ant|proj|svcacct)-[\w-]{20}|\bsk-[A-Za-z0-9]{32}/, 'a key of a language model'],
  [/\bhv[bs]\.[\w-]{20}/, 'a token of Vault'],
  [/\bxox[abeprs]-[A-Za-z0-9-]{10}/, 'a token of Slack'],
  [/\b(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{10}/, 'a key of Stripe'],
  [/(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10}/, 'a JSON web token'],
];

const isSecretName = (name: string) => secretNames.test(words(name));

/** dbPassword, DB-Password and DB_PASSWORD are the same name. */
const words = (name: string) =>
  name
    .slice(-100)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-.\s]/g, '_')
    .toLowerCase();

/**
 * Where in a value something looks like a secret, and what it looks like; undefined if nothing
 * does.
 */
export function secretIn(value: unknown, path = '', named?: string): string | undefined {
  if (typeof value === 'string') {
    const form = secretForms.find(([pattern]) => pattern.test(value));
    if (form) return `${path || 'it'} looks like ${form[1]}`;
    return named !== undefined && value !== ''
      ? `${path || 'it'} is a text, and ${named} is the name of a secret`
      : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const reference = refIn(value as never) ?? secretNameIn(value as never);
  // What may stand where a secret is needed; unless somebody has written the secret itself for its
  // name.
  if (reference !== undefined) return secretIn(reference, path);
  const compared = comparedIn(value);
  for (const [name, member] of Object.entries(value)) {
    if (secretForms.some(([pattern]) => pattern.test(name)))
      return `a name in ${path || 'it'} looks like a secret`;
    const naming =
      compared === undefined
        ? isSecretName(name)
          ? name
          : named
        : name === 'ref'
          ? undefined
          : compared;
    const found = secretIn(member, path ? `${path}.${name}` : name, naming);
    if (found) return found;
  }
  return undefined;
}

/**
 * The name of the secret that a condition compares something with: { ref: 'input.password', is: '…'
 * }.
 */
function comparedIn(value: object): string | undefined {
  if (!('ref' in value) || typeof value.ref !== 'string' || Object.keys(value).length !== 2)
    return undefined;
  const last = parseRef(value.ref)?.path.at(-1);
  return last !== undefined && isSecretName(last) ? last : undefined;
}
