import type { Entry } from './entry.js';

/** Codes of artifacts and their stores. Part of the registry. */
export const artifacts = {
  invalid_artifact: {
    message: 'The artifact cannot be stored as it is.',
    remedy: 'See the detail: it names what is wrong.',
    status: 400,
    retryable: false,
  },
  artifact_too_large: {
    message: 'The artifact is larger than the store takes.',
    remedy: 'Make it smaller, or raise maxBytes of the store.',
    status: 413,
    retryable: false,
  },
  artifact_reference_invalid: {
    message: 'The reference is not one of this store.',
    remedy: 'Use the reference as put() answered it, with the store that made it.',
    status: 400,
    retryable: false,
  },
  artifact_of_another_tenant: {
    message: 'The artifact belongs to another tenant.',
    remedy: 'Have a job of that tenant read it.',
    status: 403,
    retryable: false,
  },
  artifact_not_found: {
    message: 'The artifact is not in the store.',
    remedy: 'It was deleted, or never came there: make it again.',
    status: 404,
    retryable: false,
  },
  artifact_expired: {
    message: 'The artifact is past its retention.',
    remedy: 'Make it again; keep its kind for longer if it was still needed.',
    status: 410,
    retryable: false,
  },
  artifact_damaged: {
    message: 'The artifact is not what was stored.',
    remedy: 'Use nothing of it, find out who changed it, and make it again.',
    status: 409,
    retryable: false,
  },
  artifact_store_refused: {
    message: 'The store of artifacts does not let us.',
    remedy:
      'See the detail; check the folder and its rights, or the bucket, the credentials and what they allow.',
    status: 502,
    retryable: false,
  },
  artifact_store_unavailable: {
    message: 'The store of artifacts does not answer, or has no room.',
    remedy: 'See the detail, and try again.',
    status: 503,
    retryable: true,
  },
  artifacts_not_configured: {
    message: 'This worker has no store of artifacts.',
    remedy: "Give it one: Writ.connect({ artifacts: fileArtifacts({ folder: 'artifacts' }) }).",
    status: 500,
    retryable: false,
  },
  artifact_client_missing: {
    message: 'The client of S3 is not installed.',
    remedy: 'Install it beside writ: `npm install @aws-sdk/client-s3`.',
    status: 500,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
