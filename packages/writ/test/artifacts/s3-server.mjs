// An S3 server in a process of its own, on loopback, for the tests. Says its port, and ends when
// its input does.
import S3rver from 's3rver';

const server = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory: process.argv[2],
  configureBuckets: [{ name: 'artifacts' }],
});
const { port } = await server.run();
console.log(port);
process.stdin.resume().on('end', () => process.exit());
