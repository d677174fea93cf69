/** Connection strings: where they lead, and another login's. */
import { decoded } from '../secrets/passwords.js';

/** Where a connection string leads, for people: user, server and database. */
export function describeTarget(connectionString: string): string {
  const { username, hostname, port, pathname, searchParams } = new URL(connectionString);
  const user = username ? `${decoded(username)}@` : '';
  const host = hostname || searchParams.get('host') || 'localhost';
  return `${user}${host}${port ? `:${port}` : ''}${decoded(pathname) || '/'}`;
}

/** A connection string with the name and password of another login. */
export function urlFor(connectionString: string, login: string, password: string): string {
  const url = new URL(connectionString);
  url.searchParams.delete('user');
  url.searchParams.delete('password');
  url.username = login;
  url.password = password;
  return url.href;
}
