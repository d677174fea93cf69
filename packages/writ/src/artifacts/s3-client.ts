/**
 * The part of @aws-sdk/client-s3 that is used, in types of our own: it is installed by those who
 * keep artifacts there, and loaded on first use.
 */
import type { Readable } from 'node:stream';
import { WritError } from '../errors/index.js';

/** Options of S3Client, passed on as they are. */
export interface S3ClientOptions {
  readonly region?: string;
  /** For storage that is not Amazon's. */
  readonly endpoint?: string;
  /** The bucket in the path instead of the host name; most other storage needs it. */
  readonly forcePathStyle?: boolean;
  /** Found in the environment, as Amazon's tools do, unless given. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  readonly [option: string]: unknown;
}

interface Listed {
  readonly Contents?: readonly { readonly Key?: string }[];
  readonly IsTruncated?: boolean;
}

/** What is asked, and what is answered. */
export interface S3Calls {
  PutObject: [
    Place & { Body: Buffer; ContentLength: number; ContentType?: string | undefined },
    unknown,
  ];
  CreateMultipartUpload: [
    Place & { ContentType?: string | undefined },
    { readonly UploadId?: string },
  ];
  UploadPart: [
    Place & { UploadId: string; PartNumber: number; Body: Buffer; ContentLength: number },
    { readonly ETag?: string },
  ];
  CompleteMultipartUpload: [
    Place & {
      UploadId: string;
      MultipartUpload: { Parts: { ETag: string; PartNumber: number }[] };
    },
    unknown,
  ];
  AbortMultipartUpload: [Place & { UploadId: string }, unknown];
  GetObject: [Place, { readonly Body?: Readable; readonly ContentLength?: number }];
  HeadObject: [Place, unknown];
  DeleteObject: [Place, unknown];
  DeleteObjects: [
    { Bucket: string; Delete: { Objects: { Key: string }[]; Quiet: boolean } },
    {
      readonly Errors?: readonly {
        readonly Key?: string;
        readonly Code?: string;
        readonly Message?: string;
      }[];
    },
  ];
  ListObjectsV2: [
    { Bucket: string; Prefix?: string; StartAfter?: string; MaxKeys: number },
    Listed,
  ];
}

interface Place {
  Bucket: string;
  Key: string;
}

interface Client {
  send(command: object, options?: { abortSignal?: AbortSignal }): Promise<unknown>;
}

type Sdk = { readonly S3Client: new (options: object) => Client } & {
  readonly [Call in keyof S3Calls as `${Call}Command`]: new (
    input: S3Calls[Call][0],
  ) => object;
};

export type Send = <Call extends keyof S3Calls>(
  call: Call,
  input: S3Calls[Call][0],
  signal?: AbortSignal | undefined,
) => Promise<S3Calls[Call][1]>;

export async function connectS3(options: S3ClientOptions): Promise<Send> {
  const sdk = await loadSdk();
  // Checksums only where S3 asks for them: other storage does not know the newer ones, and we check
  // more than they do.
  const client = new sdk.S3Client({
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...options,
  });
  return async <Call extends keyof S3Calls>(
    call: Call,
    input: S3Calls[Call][0],
    signal?: AbortSignal,
  ) => {
    const Command = sdk[`${call}Command`] as new (input: S3Calls[Call][0]) => object;
    return (await client.send(
      new Command(input),
      signal && { abortSignal: signal },
    )) as S3Calls[Call][1];
  };
}

const name = '@aws-sdk/client-s3';

async function loadSdk(): Promise<Sdk> {
  try {
    return (await import(name)) as Sdk;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND')
      throw new WritError('artifact_client_missing', name, { cause: error });
    throw error;
  }
}
